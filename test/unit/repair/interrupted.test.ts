import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DATABASE_FILE } from "../../../src/database/open-files.ts";
import { placing } from "../../../src/repair/swap.ts";
import { repairFolder } from "../../../src/repair-folder.ts";
import { REPAIR_FOLDER, SET_ASIDE_PREFIX } from "../../../src/verify/file-checks.ts";
import { verifyFolder } from "../../../src/verify-folder.ts";
import { openMemoryBed } from "../memory/memories.ts";
import { breakPage, bytes, makeFolder, PAGE_BYTES, pagesOf, sql } from "../verify/damaged-folders.ts";
import { assertKept, readModel, repair } from "./folder-model.ts";

const LOG = `${DATABASE_FILE}-wal`;

/** A folder as a killed process leaves it: the last events are in the log alone. */
async function crashedFolder(): Promise<string> {
  const { memory, path } = await openMemoryBed({ path: await makeFolder() });
  const session = await memory.createSession("late");
  for (let index = 0; index < 5; index += 1)
    await session.remember({ id: `late${index}`, text: `A late note, number ${index}` });
  const copy = await makeFolder();
  for (const name of readdirSync(path)) writeFileSync(join(copy, name), readFileSync(join(path, name)));
  return copy;
}

/** What stands beside a damaged folder just before its swap. */
function readyToPlace(path: string, made: Buffer): string {
  const work = join(path, REPAIR_FOLDER);
  mkdirSync(work);
  writeFileSync(join(work, DATABASE_FILE), made);
  writeFileSync(join(work, "rows.jsonl"), "");
  return work;
}

const STEPS = 5;

describe("a repair that is ended", () => {
  it.each(Array.from({ length: STEPS + 1 }, (_, steps) => steps))(
    "[O1] behind step %i of the swap has left the damaged database or the repaired one, and the next repair ends well",
    async (steps) => {
      const path = await makeFolder();
      const before = await readModel(path);
      const made = readFileSync(join(path, DATABASE_FILE));
      sql(path, "DELETE FROM segment_lengths");
      const damaged = readFileSync(join(path, DATABASE_FILE));
      const work = readyToPlace(path, made);
      const swap = placing(path, work, true);
      for (let step = 0; step < steps; step += 1) swap.next();
      const now = readFileSync(join(path, DATABASE_FILE));
      expect(now.equals(damaged) || now.equals(made)).toBe(true);
      expect(now.equals(made)).toBe(steps === STEPS);
      await repairFolder(path, { threads: "inline", force: true });
      expect(
        (await verifyFolder(path, { threads: "inline" })).findings.filter(({ kind }) => kind !== "set-aside"),
      ).toEqual([]);
      const kept = readdirSync(path).filter((name) => name.startsWith(SET_ASIDE_PREFIX));
      expect(kept.some((name) => readFileSync(join(path, name, DATABASE_FILE)).equals(damaged))).toBe(steps === STEPS);
      assertKept(before, await readModel(path));
    },
  );

  it("[O1] before its rename gives a database that cannot be opened its log back", async () => {
    const path = await crashedFolder();
    bytes(path, 0, (old) => Buffer.alloc(old.byteLength, 0xa5), 100);
    const log = readFileSync(join(path, LOG));
    const swap = placing(path, readyToPlace(path, Buffer.alloc(0)), false);
    for (let step = 0; step < STEPS - 1; step += 1) swap.next();
    expect(existsSync(join(path, LOG))).toBe(false);
    const { report } = await repair(path);
    expect(readFileSync(join(report.keptIn ?? "", LOG)).equals(log)).toBe(true);
    const { events } = await readModel(path);
    expect([...events.keys()].filter((key) => key.startsWith("default/late"))).toHaveLength(5);
  });
});

describe("a database that cannot be opened, with a log that a crash left", () => {
  it.each([
    ["a damaged first page", (path: string) => breakPage(path, 1)],
    ["a damaged header", (path: string) => bytes(path, 0, (old) => Buffer.alloc(old.byteLength, 0xa5), 100)],
  ])("[O1] is read with its log behind %s", async (_, damage) => {
    const path = await crashedFolder();
    damage(path);
    const { report } = await repair(path);
    expect(report.complete).toBe(true);
    const { events } = await readModel(path);
    expect(events.size).toBe(55);
    expect(readdirSync(report.keptIn ?? "").sort()).toEqual([DATABASE_FILE, LOG, "rows.jsonl"]);
  });

  it("[O1] that was emptied is told of with its log, which verify leaves, and repair reads what it holds", async () => {
    const path = await crashedFolder();
    truncateSync(join(path, DATABASE_FILE), 0);
    const log = readFileSync(join(path, LOG));
    const report = await verifyFolder(path, { threads: "inline" });
    expect(report.findings).toMatchObject([{ kind: "empty-database" }]);
    expect(readFileSync(join(path, LOG)).equals(log)).toBe(true);
    const repaired = await repair(path);
    expect(repaired.report.complete).toBe(false);
    expect(readFileSync(join(repaired.report.keptIn ?? "", LOG)).equals(log)).toBe(true);
  });

  it("[O1] is repaired past a page of its log that is damaged, and the repair says that commits are missing", async () => {
    const path = await crashedFolder();
    const content = readFileSync(join(path, LOG));
    const at = 32 + 5 * (24 + PAGE_BYTES) + 2_000;
    content[at] = (content[at] ?? 0) ^ 1;
    writeFileSync(join(path, LOG), content);
    const { report } = await repair(path);
    expect(report.complete).toBe(false);
    expect(report.before.totals["log-damaged"]).toBe(1);
  });
});

describe("what a page holds", () => {
  it("[O1] is missed by the index where a page says that it holds fewer rows than it does", async () => {
    const path = await makeFolder();
    const before = await readModel(path);
    // The page of the records of the store "docs", well formed, with two rows fewer.
    const [page = 0] = pagesOf(path, "records_2");
    bytes(path, (page - 1) * PAGE_BYTES + 3, (old) => Buffer.from([old[0] ?? 0, (old[1] ?? 0) - 2]), 2);
    const { report, listed } = await repair(path);
    expect(report.complete).toBe(false);
    const lost = listed
      .filter(({ table, fate }) => table === "records_2" && fate === "lost")
      .map(({ values }) => String(values?.id));
    expect(lost).toEqual(["r18", "r19"]);
    assertKept(before, await readModel(path), { records: lost });
  });
});
