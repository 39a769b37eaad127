import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bed } from "./command-bed.ts";

const EVENTS = [
  {
    session: "s",
    user: "alice",
    id: "m1",
    at: "2026-05-01T14:00:00.000000+02:00",
    producer: "alice",
    role: "user",
    kind: "message",
    text: 'I "moved" to\nLisbon.',
    properties: {
      __proto__x: "own",
      bool: true,
      float: 1.5,
      huge: { $float: "1e+20" },
      instant: { $datetime: "1900-01-01T00:00:00.000001-00:44:30" },
      long: { $int: "9007199254740993" },
      text: "2026-01-01T00:00:00.000000Z",
    },
  },
  {
    session: "s",
    user: "alice",
    id: "m2",
    at: "2026-05-01T12:01:00.000000Z",
    blocks: [
      { type: "text", text: "Look." },
      { type: "image", data: { micros: 1234567890123456, of: [null] } },
    ],
  },
  { session: "t", id: "m3", at: "2026-05-02T00:00:00.000000Z", text: "Another session." },
];

const LINES = EVENTS.map((event) => `${JSON.stringify(event)}\n`);

it("what is exported and imported again is equal: times with offsets, blocks, types of properties", async () => {
  const [from, to] = [bed(), bed()];
  const file = join(from.folder, "in.jsonl");
  writeFileSync(file, LINES.join(""));
  expect((await from.cli("import", file)).err).toBe("");
  expect((await from.cli("export")).out).toBe(LINES.join(""));
  const out = join(from.folder, "out.jsonl");
  expect(await from.cli("export", out)).toEqual({ code: 0, out: "", err: "3 events written.\n" });
  expect(readFileSync(out, "utf8")).toBe(LINES.join(""));
  expect((await to.cli("import", out)).code).toBe(0);
  expect((await to.cli("export")).out).toBe(LINES.join(""));
  expect(JSON.parse((await from.cli("import", out, "--json")).out)).toMatchObject({ present: 3, remembered: 0 });
});

it("more events than a page are exported, each once", async () => {
  const { folder, cli } = bed();
  const file = join(folder, "in.jsonl");
  const lines = Array.from(
    { length: 1_203 },
    (_, n) => `${JSON.stringify({ session: "s", id: `e${n}`, text: `t${n}` })}\n`,
  );
  writeFileSync(file, lines.join(""));
  await cli("import", file);
  const ids = (await cli("export")).out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).id);
  expect([ids.length, new Set(ids).size]).toEqual([1_203, 1_203]);
});

it("an export is narrowed by session, user and filter", async () => {
  const { folder, cli } = bed();
  const file = join(folder, "in.jsonl");
  writeFileSync(file, LINES.join(""));
  await cli("import", file);
  expect((await cli("export", "--session", "t")).out).toBe(LINES[2]);
  expect((await cli("export", "--user", "alice", "--where", "m.bool = true")).out).toBe(LINES[0]);
  expect((await cli("export", "--session", "nowhere")).code).toBe(1);
});

it("an export takes no other file's place, goes not into the memory's folder, and leaves no part behind", async () => {
  const { folder, path, cli } = bed();
  await cli("remember", "hello", "--session", "s");
  const file = join(folder, "there.jsonl");
  writeFileSync(file, "mine");
  for (const [target, code] of [
    [file, "ALREADY_EXISTS"],
    [join(path, "out.jsonl"), "INVALID_ARGUMENT"],
    [join(folder, "no", "out.jsonl"), "NOT_FOUND"],
  ] as const)
    expect(await cli("export", target)).toMatchObject({ code: 1, err: expect.stringContaining(`error: ${code}: `) });
  expect(readFileSync(file, "utf8")).toBe("mine");
  const failed = await cli("export", join(folder, "new.jsonl"), "--session", "nowhere");
  expect(failed.code).toBe(1);
  expect(readdirSync(folder).sort()).toEqual(["memory.holdfast", "there.jsonl"]);
});

it("[S10] a tenant is made by remember and import alone, and sees nothing of another", async () => {
  const { cli } = bed();
  await cli("remember", "of acme", "--session", "s", "--tenant", "acme");
  await cli("remember", "of the default", "--session", "s");
  expect((await cli("export", "--tenant", "acme")).out).toContain("of acme");
  expect((await cli("export", "--tenant", "acme")).out).not.toContain("default");
  expect((await cli("tenants")).out).toMatch(/^TENANT +SEGMENTS.*\nacme +1 .*\ndefault +1 /);
  for (const args of [
    ["recall", "x"],
    ["stats"],
    ["forget", "e"],
    ["export"],
    ["sessions"],
    ["recent", "--session", "s"],
  ]) {
    const { code, err } = await cli(...args, "--tenant", "nobody");
    expect([args, code, err]).toEqual([args, 1, expect.stringMatching(/^error: NOT_FOUND: .*"holdfast tenants"/)]);
  }
  expect((await cli("tenants", "--json")).out).not.toContain("nobody");
});
