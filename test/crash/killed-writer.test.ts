import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, it } from "vitest";

const SCRIPT = fileURLToPath(new URL("../../scripts/kill-writer.js", import.meta.url));
const KILLS = 10;

describe("[backend embedded] a writer that is killed", () => {
  it(`[V13, V14, Q8, O5] ${KILLS} times, at random moments: what was acknowledged is there, the rest whole or not at all`, async () => {
    const { code, output } = await run(["--rounds", String(KILLS), "--seed", "1"]);
    assert.equal(code, 0, output);
    assert.match(
      output,
      new RegExp(`^${KILLS} kills, \\d+ of them inside a write, [1-9]\\d* acknowledged writes, 0 lost`),
    );
  });
});

function run(args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [SCRIPT, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (text: string) => {
        output += text;
      });
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}
