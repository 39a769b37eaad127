import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, it } from "vitest";

const PROGRAM = fileURLToPath(new URL("../doubles/children/late-answer.js", import.meta.url));

describe("a process that closes while an aborted call is still answered", () => {
  it("[E12] lives until the thread has ended: what stands behind `await close()` runs", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM]);
    assert.equal(stdout, "ended");
  });
});
