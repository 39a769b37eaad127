import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bed } from "./command-bed.ts";

describe("backup and restore", () => {
  it("[O2] a folder is backed up and restored, beside what it held since", async () => {
    const { folder, path, cli } = bed();
    const backup = join(folder, "backups", "one");
    await cli("remember", "I moved to Lisbon.", "--session", "s");
    const made = await cli("backup", backup);
    expect(made).toMatchObject({ code: 0, err: "" });
    expect(made.out).toMatch(/^\S+\/backups\/one: 1 event of 1 tenant, \d+(\.\d)? [KM]iB\n$/);
    await cli("remember", "I left again.", "--session", "s");
    const refused = await cli("restore", backup);
    expect(refused).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^error: ALREADY_EXISTS: .*--replace/),
    });
    const restored = await cli("restore", backup, "--dir", path, "--replace");
    expect(restored).toMatchObject({ code: 0, err: "" });
    expect(restored.out).toMatch(/: 1 event as of 2\S+Z\nwhat it held before: \S+before-restore-\d+T\d+Z\n$/);
    expect(JSON.parse((await cli("stats", "--json")).out)).toMatchObject({ events: 1 });
    const json = await cli("restore", backup, "--dir", join(folder, "other"), "--json");
    expect(JSON.parse(json.out)).toMatchObject({ path: join(folder, "other"), rows: { events: 1 } });
  });

  it("[O2] what cannot be meant is refused, and nothing is made", async () => {
    const { folder, cli } = bed();
    const backup = join(folder, "one");
    expect(await cli("backup", backup)).toMatchObject({ code: 1, err: expect.stringContaining("NOT_FOUND") });
    await cli("remember", "I moved to Lisbon.", "--session", "s");
    expect(await cli("backup", backup, "--tenant", "acme")).toMatchObject({ code: 2 });
    expect(await cli("restore", backup, "--tenant", "acme")).toMatchObject({ code: 2 });
    expect(await cli("restore", backup, "--dir", join(folder, "new"))).toMatchObject({
      code: 1,
      err: expect.stringContaining("NOT_FOUND"),
    });
    expect(existsSync(join(folder, "new"))).toBe(false);
    expect(readdirSync(folder)).toEqual(["memory.holdfast"]);
  });
});

it("[O4] stats of the folder are shown for people and for machines", async () => {
  const { cli } = bed();
  await cli("remember", "I moved to Lisbon.", "--session", "s");
  const { out, code } = await cli("stats", "--folder");
  expect(code).toBe(0);
  expect(out).toMatch(/^rows +1 tenants, 1 sessions, 1 events/m);
  for (const kind of ["vectors", "texts", "words", "free", "log"])
    expect(out).toMatch(new RegExp(`^${kind} +\\d`, "m"));
  expect(JSON.parse((await cli("stats", "--folder", "--json")).out)).toMatchObject({ rows: { events: 1 } });
  expect(await cli("stats", "--folder", "--tenant", "acme")).toMatchObject({ code: 2 });
});
