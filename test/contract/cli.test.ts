import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { openMemory } from "holdfast";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const PER_COMMIT = 32;

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
  path = join(folder, "memory.holdfast");
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function start(...args: readonly string[]): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [MAIN, ...args, "--path", path], { stdio: "pipe" });
  // A child that is gone takes no more input; its exit code says what happened.
  child.stdin.on("error", () => undefined);
  return child;
}

async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const closed = once(child, "close") as Promise<[number | null]>;
  const [[code], out, err] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  return { code, out, err };
}

function cli(...args: readonly string[]): Promise<Ended> {
  const child = start(...args);
  child.stdin.end();
  return ended(child);
}

const line = (index: number): string => `${JSON.stringify({ session: "s", id: `e${index}`, text: `note ${index}` })}\n`;
const lines = (count: number, first = 0): string =>
  Array.from({ length: count }, (_, index) => line(first + index)).join("");

/** Reads through the API until so many events are there. */
async function untilRemembered(count: number): Promise<void> {
  const memory = await openMemory(path);
  try {
    while ((await memory.stats()).events < count) await memory.getSession("s");
  } finally {
    await memory.close();
  }
}

/** Every event by id, each as often as it is found. */
async function recalled(count: number): Promise<readonly string[]> {
  const memory = await openMemory(path);
  try {
    const { hits } = await memory.recall("note", { session: "s", limit: count * 2 });
    return hits.map((hit) => hit.event).sort();
  } finally {
    await memory.close();
  }
}

const ids = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `e${index}`).sort();

describe("[backend embedded] the command line as a process", () => {
  it("remembers, and a second process recalls", async () => {
    const kept = await cli("remember", "I moved to Lisbon in May.", "--session", "s", "--user", "alice");
    expect([kept.code, kept.err]).toEqual([0, ""]);
    const found = await cli("recall", "where", "does", "Alice", "live", "--json");
    expect(JSON.parse(found.out)).toMatchObject({ hits: [{ text: "I moved to Lisbon in May.", user: "alice" }] });
    expect([found.code, found.err]).toEqual([0, ""]);
  });

  it("[O5] SIGKILL during an import loses nothing that was committed, and the next run finishes it once", async () => {
    const child = start("import", "-");
    const end = ended(child);
    child.stdin.write(lines(40));
    await untilRemembered(PER_COMMIT);
    child.kill("SIGKILL");
    expect((await end).code).toBe(null);
    writeFileSync(join(folder, "all.jsonl"), lines(40));
    const { out } = await cli("import", join(folder, "all.jsonl"), "--json");
    expect(JSON.parse(out)).toMatchObject({ read: 40, remembered: 40 - PER_COMMIT, present: PER_COMMIT, invalid: 0 });
    expect(await recalled(40)).toEqual(ids(40));
  });

  it("[O5] SIGTERM and SIGINT end an import that waits for input, keep what was committed and say how to go on", async () => {
    for (const [signal, expected, first] of [
      ["SIGTERM", 143, 0],
      ["SIGINT", 130, PER_COMMIT],
    ] as const) {
      const child = start("import", "-");
      const end = ended(child);
      child.stdin.write(lines(40, first));
      await untilRemembered(first + PER_COMMIT);
      child.kill(signal);
      const { code, out, err } = await end;
      expect([code, out]).toEqual([expected, ""]);
      expect(err).toContain("run the same command again");
      expect(err).toContain(`Stopped by ${signal}.`);
    }
    expect(await recalled(80)).toEqual(ids(2 * PER_COMMIT));
  });

  it("[E5] two processes that import one file at once remember each line once", async () => {
    const file = join(folder, "all.jsonl");
    writeFileSync(file, `${lines(40)}${'{"session":"s","text":"note without id"}\n'.repeat(2)}`);
    const results = await Promise.all([cli("import", file, "--json"), cli("import", file, "--json")]);
    const counts = results.map(({ out }) => JSON.parse(out) as { readonly remembered: number; readonly read: number });
    expect(counts.map(({ read }) => read)).toEqual([42, 42]);
    expect(counts.reduce((sum, { remembered }) => sum + remembered, 0)).toBe(42);
    expect(new Set(await recalled(42)).size).toBe(42);
    expect((await recalled(42)).length).toBe(42);
  });

  it("a reader that leaves early is no error", async () => {
    await cli("remember", "hello", "--session", "s");
    for (const args of [["sessions"], ["stats", "--json"], ["--help"]]) {
      const child = start(...args);
      child.stdout.destroy();
      child.stdin.end();
      const [[code], err] = await Promise.all([once(child, "exit"), text(child.stderr)]);
      expect([args, code, err]).toEqual([args, 0, ""]);
    }
  });

  it("errors go to standard error with their code, without a stack", async () => {
    const missing = await cli("recall", "x");
    expect([missing.code, missing.out]).toEqual([1, ""]);
    expect(missing.err).toMatch(/^error: NOT_FOUND: [^\n]+\n$/);
    const file = await cli("import", join(folder, "nowhere.jsonl"));
    expect([file.code, file.err]).toEqual([1, expect.stringMatching(/error: NOT_FOUND: The file .*nowhere\.jsonl/)]);
  });

  it("[E13] a file inside the memory's folder is not read", async () => {
    await cli("remember", "hello", "--session", "s");
    const { code, err } = await cli("import", join(path, "holdfast.db"));
    expect([code, err]).toEqual([1, expect.stringContaining("error: INVALID_ARGUMENT: The file lies inside")]);
  });
});
