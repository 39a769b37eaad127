import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type Bed, bed } from "./command-bed.ts";

async function filled(): Promise<Bed & { readonly file: string }> {
  const from = bed();
  await from.cli("remember", "I moved to Lisbon", "--session", "s", "--user", "alice", "--id", "e1");
  await from.cli("update", "e1", "I moved to Porto");
  await from.cli("remember", "of acme", "--session", "s", "--tenant", "acme");
  return { ...from, file: join(from.folder, "all.jsonl") };
}

/** Lines without what each export has of its own. */
const contents = (text: string): string[] =>
  text
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.replace(/,"check":"\w+"/, ""));

it("[O2] an archive is everything of the folder, is recognised by import, and is equal there", async () => {
  const { file, cli } = await filled();
  const to = bed();
  expect(await cli("export", "--archive", file)).toEqual({
    code: 0,
    out: "",
    err: "2 tenants, 2 sessions, 2 events with 2 vectors written.\n",
  });
  const whole = "2 tenants, 2 sessions, 2 events with 2 vectors";
  expect(await to.cli("import", file, "--dry-run")).toEqual({
    code: 0,
    out: `${whole}: the archive is whole. Nothing was written.\n`,
    err: "",
  });
  expect((await to.cli("tenants")).out).not.toContain("acme");
  expect(await to.cli("import", file)).toEqual({
    code: 0,
    out: expect.stringMatching(new RegExp(`^${whole} taken in \\(.*\\)\\.\\n$`)),
    err: "",
  });
  expect(contents((await to.cli("export", "--archive")).out)).toEqual(contents(readFileSync(file, "utf8")));
  expect((await to.cli("history", "e1")).out).toMatch(/Lisbon[\s\S]*Porto/);
  expect(JSON.parse((await to.cli("import", file, "--json")).out)).toMatchObject({ events: 2, resumed: true });
});

it("[O2] an archive of one tenant is taken in under its own id or another, once", async () => {
  const { file, cli } = await filled();
  const to = bed();
  await cli("export", "--archive", "--tenant", "acme", file);
  expect(readFileSync(file, "utf8")).not.toMatch(/Lisbon|alice/);
  expect((await to.cli("import", file, "--as", "copy")).code).toBe(0);
  await to.cli("remember", "of its own", "--session", "s", "--tenant", "acme");
  const refused = await to.cli("import", file);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('ALREADY_EXISTS: The tenant "acme" exists')]);
  expect((await to.cli("export", "--tenant", "copy")).out).toContain("of acme");
  expect((await cli("export", "--archive", "--tenant", "nobody")).err).toContain("error: NOT_FOUND");
});

it("[O2] an altered archive is refused with its line, and leaves nothing", async () => {
  const { file, folder, cli } = await filled();
  await cli("export", "--archive", file);
  const altered = join(folder, "altered.jsonl");
  writeFileSync(altered, readFileSync(file, "utf8").replace("I moved to Porto", "I moved to Faro."));
  const to = bed();
  const { code, out, err } = await to.cli("import", altered);
  expect([code, out]).toEqual([1, ""]);
  expect(err).toMatch(/^error: INVALID_ARCHIVE: Line \d+ of the archive does not follow the line before it/);
  expect((await to.cli("stats")).out).toMatch(/events +0/i);
  expect(readdirSync(folder).sort()).toEqual(["all.jsonl", "altered.jsonl", "memory.holdfast"]);
});

it("[O2] options that do not fit are wrong usage, before anything is opened", async () => {
  const { file, folder, cli } = await filled();
  await cli("export", "--archive", file);
  const lines = join(folder, "lines.jsonl");
  await cli("export", lines);
  for (const args of [
    ["export", "--archive", "--user", "alice"],
    ["export", "--archive", "--where", "role = 'user'"],
    ["export", "--skip-damaged"],
    ["import", file, "--tenant", "acme"],
    ["import", file, "--session", "s"],
    ["import", file, "--skip-invalid"],
    ["import", lines, "--as", "acme"],
    ["import", lines, "--dry-run"],
  ])
    expect([args, (await cli(...args)).code]).toEqual([args, 2]);
});
