import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sql } from "../verify/damaged-folders.ts";
import { bed } from "./command-bed.ts";

describe("holdfast verify", () => {
  it("[O1] says what it read and ends with 0 when everything is whole", async () => {
    const { cli } = bed();
    await cli("remember", "I moved to Lisbon in May.", "--session", "s");
    const { code, out } = await cli("verify", "--deep");
    expect(code).toBe(0);
    expect(out).toContain("1 event, 1 segment");
    expect(out).toContain("Everything is whole.");
  });

  it("[O1] names damage in a table and as JSON, and ends with 3", async () => {
    const { cli, path } = bed();
    await cli("remember", "I moved to Lisbon in May.", "--session", "s");
    writeFileSync(join(path, "notes.txt"), "mine");
    sql(path, "UPDATE events SET text = 'I moved to London in May.'");
    const told = await cli("verify");
    expect(told.code).toBe(3);
    expect(told.out).toMatch(/event\s+events\s+1\s+The event's checksum does not hold/);
    expect(told.out).toMatch(/foreign-file\s+notes.txt/);
    const { code, out } = await cli("verify", "--json");
    expect(code).toBe(3);
    expect(JSON.parse(out)).toMatchObject({ ok: false, totals: { event: 1, "foreign-file": 1 } });
  });

  it("says that there is no memory, and makes none", async () => {
    const { cli } = bed();
    const { code, err } = await cli("verify");
    expect(code).toBe(1);
    expect(err).toContain("NOT_FOUND");
  });
});
