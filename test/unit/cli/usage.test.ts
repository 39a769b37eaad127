import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { bed } from "./command-bed.ts";

it("a file that is not there, or is a folder, is named alone, and no memory is made", async () => {
  const { path, cli } = bed();
  for (const [file, code] of [
    ["missing.jsonl", "NOT_FOUND"],
    [tmpdir(), "INVALID_ARGUMENT"],
  ] as const) {
    const ran = await cli("import", file);
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(new RegExp(`^error: ${code}: .*\\n$`));
  }
  expect(existsSync(path)).toBe(false);
});

it("wrong usage says how to find the right one", async () => {
  const { path, cli } = bed();
  for (const args of [
    ["bogus"],
    ["recall"],
    ["recall", "x", "--min-cosine", "2"],
    ["recall", "x", "--path", ""],
    ["remember", "x", "--session", "s", "--property", "a=1", "--property", "a=2"],
  ]) {
    const ran = await cli(...args);
    expect([args, ran.code]).toEqual([args, 2]);
    expect(ran.err).toMatch(/^error: .*\nAdd --help to see how it is used\.\n/s);
  }
  expect(existsSync(path)).toBe(false);
});

it("several words are one text, to remember as to ask", async () => {
  const { cli } = bed();
  await cli("remember", "green", "bicycle", "--session", "s", "--id", "e");
  const asked = await cli("recall", "my", "bicycle");
  expect(asked.out).toMatch(/\n {4}green bicycle\n {4}session s · event e · score 0\.50 · cosine /);
});

it("a session that is not there is an error, not an empty answer", async () => {
  const { cli } = bed();
  await cli("remember", "green bicycle", "--session", "s");
  const asked = await cli("recall", "bicycle", "--session", "S");
  expect([asked.code, asked.out]).toEqual([1, ""]);
  expect(asked.err).toMatch(/^error: NOT_FOUND: /);
});
