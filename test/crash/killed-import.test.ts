import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openMemory } from "holdfast";
import { describe, it } from "vitest";
import { createHashEmbedder } from "../doubles/hash-embedder.ts";
import { temporaryFolder } from "../unit/database/connections.ts";

const CHILD = fileURLToPath(new URL("./import-child.js", import.meta.url));
const KILLS = 10;
const SESSIONS = 20;
const TURNS = 1_500;
/** Texts that one commit holds: those that a kill can find embedded and not committed. */
const IN_FLIGHT_MAX = 32;

describe("[backend embedded] an import that is killed", () => {
  it(`[S3, V14] ${KILLS} times and run again remembers each line once, and embeds nothing again but what was in flight`, async () => {
    const folder = temporaryFolder();
    const [lines, path, embedded] = ["turns.jsonl", "memory.holdfast", "embedded.txt"].map((name) =>
      join(folder, name),
    );
    if (lines === undefined || path === undefined || embedded === undefined) throw new Error("three paths");
    writeFileSync(lines, Array.from({ length: TURNS }, (_, n) => `${JSON.stringify(turn(n))}\n`).join(""));
    writeFileSync(embedded, "");
    for (let kill = 1; kill <= KILLS; kill += 1) {
      // By how much was embedded and not by time: each kill falls into the middle of the work, on any machine.
      const due = (kill * TURNS) / (KILLS + 1) - linesIn(embedded);
      await runUntil([lines, path, embedded], due);
    }
    const last = await runUntil([lines, path, embedded], Number.POSITIVE_INFINITY);
    assert.equal(last.code, 0, last.output);
    const texts = readFileSync(embedded, "utf8").trim().split("\n");
    assert.equal(new Set(texts).size, TURNS);
    assert.ok(texts.length <= TURNS + KILLS * IN_FLIGHT_MAX, `${texts.length} texts embedded for ${TURNS}`);
    const memory = await openMemory(path, { embedder: createHashEmbedder({ dimensions: 8 }) });
    const found = new Map<string, string>();
    for (let after: string | undefined, more = true; more; ) {
      const page = await memory.list({ limit: 1_000, ...(after !== undefined && { after }) });
      for (const { id, text } of page.events) {
        assert.ok(!found.has(id), `${id} is there twice`);
        found.set(id, text);
      }
      after = page.next;
      more = after !== undefined;
    }
    assert.deepEqual([...found.keys()].sort(), Array.from({ length: TURNS }, (_, n) => turn(n).id).sort());
    const stats = await memory.stats();
    assert.deepEqual([stats.events, stats.vectors, stats.sessions], [TURNS, TURNS, SESSIONS]);
    await memory.close();
  });
});

function turn(n: number) {
  return { session: `s${n % SESSIONS}`, id: `turn-${n}`, producer: "alice", text: `what alice said in turn ${n}` };
}

function linesIn(file: string): number {
  return statSync(file).size === 0 ? 0 : readFileSync(file, "utf8").split("\n").length - 1;
}

/** Kills the child when it has embedded so many texts, or lets it end. */
function runUntil(
  args: readonly string[],
  textsDue: number,
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, ...args], { stdio: ["ignore", "pipe", "pipe", "ipc"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8");
      stream?.on("data", (text: string) => {
        output += text;
      });
    }
    let embedded = 0;
    child.on("message", (texts) => {
      embedded += Number(texts);
      if (embedded >= textsDue) child.kill("SIGKILL");
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}
