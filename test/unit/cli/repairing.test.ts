import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sql } from "../verify/damaged-folders.ts";
import { bed } from "./command-bed.ts";

async function damaged(ask?: (question: string) => Promise<string>) {
  const used = bed(ask);
  await used.cli("remember", "I moved to Lisbon in May.", "--session", "s");
  await used.cli("remember", "I play chess.", "--session", "s");
  sql(used.path, "UPDATE events SET text = 'I moved to London in May.' WHERE event = 1");
  return used;
}

describe("holdfast repair", () => {
  it("[O1] shows in a dry run what it would bring back, and changes nothing", async () => {
    const { cli, path } = await damaged();
    const before = readFileSync(join(path, "holdfast.db"));
    const { code, out } = await cli("repair", "--dry-run");
    expect(code).toBe(3);
    expect(out).toMatch(/events\s+2\s+1\s+1\s+0/);
    expect(out).toContain("Nothing was changed.");
    expect(readFileSync(join(path, "holdfast.db")).equals(before)).toBe(true);
  });

  it("[O1] repairs, says where the damaged database and what is missing are kept, and ends with 3 when something is", async () => {
    const { cli, path } = await damaged();
    const { code, out } = await cli("repair", "--yes", "--json");
    expect(code).toBe(3);
    const { keptIn } = JSON.parse(out) as { readonly keptIn: string };
    expect(readdirSync(keptIn).sort()).toEqual(["holdfast.db", "rows.jsonl"]);
    expect(readFileSync(join(keptIn, "rows.jsonl"), "utf8")).toContain("I moved to London in May.");
    expect(readdirSync(path)).toContain("holdfast.db");
    expect((await cli("verify")).code).toBe(0);
    expect((await cli("recall", "chess")).out).toContain("I play chess.");
  });

  it("[O1] ends with 0 when everything is back, and says so when nothing was damaged", async () => {
    const { cli, path } = await damaged();
    sql(path, "UPDATE events SET text = 'I moved to Lisbon in May.' WHERE event = 1; DELETE FROM segment_lengths");
    const { code, out } = await cli("repair", "--yes");
    expect([code, out.includes("everything is back")]).toEqual([0, true]);
    expect((await cli("repair", "--yes")).out).toContain("is whole; nothing was changed.");
  });

  it("[O1] asks first, changes nothing without a yes, and needs one where nobody can be asked", async () => {
    const { cli, path } = await damaged(async () => "no");
    const before = readFileSync(join(path, "holdfast.db"));
    const { code, err } = await cli("repair");
    expect([code, err]).toEqual([0, "Nothing was changed.\n"]);
    expect(readFileSync(join(path, "holdfast.db")).equals(before)).toBe(true);
    const nobody = await damaged();
    expect(await nobody.cli("repair")).toMatchObject({ code: 2 });
  });
});
