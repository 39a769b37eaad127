import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { type Bed, bed } from "./command-bed.ts";

async function seeded(given: Bed): Promise<Bed> {
  for (const [session, user, id, text] of [
    ["s", "alice", "a1", "green bicycle"],
    ["s", "alice", "a2", "red bicycle"],
    ["t", "bob", "b1", "blue boat"],
  ] as const)
    await given.cli("remember", text, "--session", session, "--user", user, "--id", id, "--producer", user);
  return given;
}

const left = async ({ cli }: Bed): Promise<readonly string[]> =>
  (await cli("export")).out
    .split("\n")
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { readonly id: string }).id);

it("a refused event leaves no folder and no session behind", async () => {
  const given = bed();
  expect(await given.cli("remember", " ", "--session", "s")).toMatchObject({ code: 1 });
  expect(await given.cli("remember", "x", "--session", "s", "--at", "yesterday")).toMatchObject({ code: 2 });
  expect(existsSync(given.path)).toBe(false);
  await seeded(given);
  await given.cli("remember", " ", "--session", "new");
  expect((await given.cli("sessions")).out).not.toContain("new");
});

it("[S6] a selection is shown by --dry-run, and forgotten with --yes", async () => {
  const given = await seeded(bed());
  expect((await given.cli("forget", "--user", "alice", "--dry-run")).out).toBe("Would be forgotten: 2\n");
  expect(await left(given)).toEqual(["a1", "a2", "b1"]);
  expect((await given.cli("forget", "--session", "s", "--where", "producer = 'bob'", "--yes")).out).toBe(
    "Forgotten: 0\n",
  );
  expect((await given.cli("forget", "--user", "alice", "--yes")).out).toBe("Forgotten: 2\n");
  expect(await left(given)).toEqual(["b1"]);
});

it("where nobody can be asked a selection is not forgotten without --yes, and an empty one never", async () => {
  const given = await seeded(bed());
  expect(await given.cli("forget", "--user", "alice")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--yes"),
  });
  expect(await given.cli("forget", "--yes")).toMatchObject({ code: 2, err: expect.stringContaining("Say what") });
  for (const where of ["", "  "])
    expect(await given.cli("forget", "--user", "alice", "--where", where, "--yes")).toMatchObject({
      code: 2,
      err: expect.stringContaining("The filter is empty"),
    });
  expect((await left(given)).length).toBe(3);
});

it("on a terminal it asks with the count, and only yes is yes", async () => {
  const questions: string[] = [];
  const answers = ["", "no", "y"];
  const given = await seeded(
    bed(async (question) => {
      questions.push(question);
      return answers.shift() ?? "";
    }),
  );
  for (const [out, err] of [
    ["", "Nothing was forgotten.\n"],
    ["", "Nothing was forgotten.\n"],
    ["Forgotten: 2\n", ""],
  ])
    expect(await given.cli("forget", "--session", "s")).toEqual({ code: 0, out, err });
  expect(questions).toEqual(Array.from({ length: 3 }, () => "Forget 2 events? [y/N] "));
});

it("[S12] an event is updated and its history shown", async () => {
  const given = await seeded(bed());
  expect((await given.cli("update", "a1", "yellow", "bicycle", "--property", "topic=things")).out).toBe(
    "a1 is at revision 2\n",
  );
  expect((await given.cli("update", "a1", "--remove-property", "topic", "--expected-revision", "2")).code).toBe(0);
  expect((await given.cli("update", "a1", "x", "--expected-revision", "2")).err).toMatch(/^error: REVISION_CONFLICT: /);
  expect((await given.cli("update", "a1")).code).toBe(2);
  const { out } = await given.cli("history", "a1");
  expect(out).toMatch(
    /^Revision 1, until .*\n {4}green bicycle\nRevision 2, until .*\n {4}yellow bicycle\nRevision 3, now\n {4}yellow bicycle\n$/,
  );
  expect((await given.cli("history", "nothing")).err).toMatch(/^error: NOT_FOUND: /);
});

it("[S13] recent shows the newest events of a session, oldest first", async () => {
  const given = await seeded(bed());
  const { out } = await given.cli("recent", "--session", "s");
  expect(out).toMatch(/^alice, .* · event a1\n {4}green bicycle\nalice, .* · event a2\n {4}red bicycle\n$/);
  expect((await given.cli("recent", "--session", "s", "--limit", "1")).out).not.toContain("green");
  expect((await given.cli("recent", "--session", "nowhere")).code).toBe(1);
});

it("the caret stands under the place in a filter, also behind wide characters and on its own line", async () => {
  const given = await seeded(bed());
  for (const [where, shown] of [
    ["m.x = AND", "  m.x = AND\n        ^\n"],
    ["m.x = '日本' AND AND", "  m.x = '日本' AND AND\n                   ^\n"],
    ["m.x = 1\nAND = 2", "  AND = 2\n      ^\n"],
  ] as const) {
    const { code, err } = await given.cli("recall", "x", "--where", where);
    expect([where, code, err]).toEqual([where, 2, expect.stringContaining(shown)]);
  }
});
