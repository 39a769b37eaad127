import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, it } from "vitest";

const TORTURE = fileURLToPath(new URL("../../scripts/torture.js", import.meta.url));
const ROUNDS = 3;

describe("[backend embedded] processes that write one folder and are killed", () => {
  it("[V13, V14, Q8, E2, E5, O5] at random moments and at failpoints: what was acknowledged is there, the rest whole or not at all, and no row answers for another", async () => {
    const { code, output } = await run(["--rounds", String(ROUNDS), "--seed", "1"]);
    assert.equal(code, 0, output);
    assert.match(output, /^[1-9]\d* of the kills came inside a call$/m);
    assert.match(output, /^kills 18, acknowledged [1-9]\d\d+, lost 0, ghosts 0, wrong 0$/m);
  });
});

function run(args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [TORTURE, ...args], { stdio: ["ignore", "pipe", "pipe"] });
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
