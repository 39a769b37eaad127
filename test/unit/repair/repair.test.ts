import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DATABASE_FILE } from "../../../src/database/open-files.ts";
import { repairFolder } from "../../../src/repair-folder.ts";
import { openMemoryBed } from "../memory/memories.ts";
import { breakPage, bytes, makeFolder, PAGE_BYTES, pagesOf, sql, value } from "../verify/damaged-folders.ts";
import { assertKept, readModel, repair } from "./folder-model.ts";

const EVENT = "(SELECT event FROM events WHERE id = 'e7' AND tenant = 1)";
const SEGMENT = "(SELECT segment FROM segments ORDER BY segment LIMIT 1 OFFSET 5)";

/** Damage behind which everything that was told is there again. */
const DERIVED: readonly (readonly [string, string])[] = [
  ["a digest", `UPDATE events SET digest = 'x', first_digest = 'y' WHERE event = ${EVENT}`],
  ["a session's user", "UPDATE sessions SET user = 'mallory' WHERE id = 'diary' AND tenant = 1"],
  ["a session's id", "UPDATE sessions SET id = 'other' WHERE id = 'diary' AND tenant = 1"],
  ["a session's row gone", "DELETE FROM sessions WHERE id = 'diary' AND tenant = 1"],
  ["the first tenant's row gone", "DELETE FROM tenants WHERE id = 'default'"],
  ["a segment's range", `UPDATE segments SET start = start + 1 WHERE segment = ${SEGMENT}`],
  ["a segment gone", `DELETE FROM segments WHERE segment = ${SEGMENT}`],
  ["all segments gone", "DELETE FROM segments"],
  ["a segment without its event", "INSERT INTO segments VALUES (999, 1, 999, 0, 1, 0, 1, '')"],
  ["a segment's words", `UPDATE segments SET token_string = 'other words' WHERE segment = ${SEGMENT}`],
  ["a segment without words", `DELETE FROM segment_lengths WHERE segment = ${SEGMENT}`],
  ["words that are in no segment", "INSERT INTO segment_words (rowid, words) VALUES (777, '1_ghost')"],
  ["a segment that nothing embeds", `UPDATE segments SET vectors = 0 WHERE segment = ${SEGMENT}`],
  ["a vector's record gone", "DELETE FROM records_1 WHERE row = 4"],
  ["a value beside a vector", "UPDATE records_1 SET p_user = 'bob' WHERE row = 4"],
  ["a vector's bytes", "UPDATE vectors_1 SET vector = zeroblob(256) WHERE row = 4"],
  ["a vector gone", "DELETE FROM vectors_1 WHERE row = 4"],
  [
    "every vector of the memory gone",
    "DELETE FROM records_1; DELETE FROM vectors_1; DELETE FROM partitions WHERE key = 'tenant_1'",
  ],
  ["a partition's count and sum", "UPDATE partitions SET records = 77, checksum = 5 WHERE key = 'main'"],
  ["the space's row gone", "DELETE FROM spaces"],
  ["a tenant's counts", "UPDATE tenants SET documents = 1, tokens = 1, changes = 1"],
  ["a pending segment that is gone", "INSERT INTO pending_vectors VALUES (999, 1, 'waiting', 0, 0, 'x')"],
  ["a counter that stands behind", "UPDATE sqlite_sequence SET seq = 3 WHERE name = 'events'"],
  ["a missing index", "DROP INDEX events_by_session"],
  ["a summary of an event that is gone", "UPDATE summaries SET to_event = 999 WHERE tenant = 1"],
];

describe("repair", () => {
  it("[O1] leaves a folder that is whole as it is", async () => {
    const path = await makeFolder();
    const before = readFileSync(join(path, DATABASE_FILE));
    const report = await repairFolder(path, { threads: "inline" });
    expect(report).toMatchObject({ outcome: "whole", complete: true });
    expect(readFileSync(join(path, DATABASE_FILE)).equals(before)).toBe(true);
    expect(readdirSync(path)).toEqual([DATABASE_FILE]);
  });

  it("[O1] makes an equal folder of one that is whole, when it is told to", async () => {
    const path = await makeFolder();
    const before = await readModel(path);
    const report = await repairFolder(path, { threads: "inline", force: true });
    expect(report).toMatchObject({ outcome: "repaired", complete: true, notes: [] });
    for (const { setAside, lost } of report.tables) expect([setAside, lost]).toEqual([0, 0]);
    assertKept(before, await readModel(path));
  });

  it.each(DERIVED)("[O1] brings everything back behind %s", async (_, statement) => {
    const path = await makeFolder();
    const before = await readModel(path);
    sql(path, statement);
    const { report } = await repair(path);
    expect(report.complete).toBe(true);
    assertKept(before, await readModel(path));
  });

  it("[O1] lists an event whose text was changed, and brings back every other", async () => {
    const path = await makeFolder();
    const before = await readModel(path);
    sql(path, `UPDATE events SET text = 'Another text' WHERE event = ${EVENT}`);
    const { report, listed } = await repair(path);
    expect(report.complete).toBe(false);
    expect(listed).toContainEqual(
      expect.objectContaining({
        table: "events",
        fate: "set-aside",
        values: expect.objectContaining({ id: "e7", text: "Another text" }),
      }),
    );
    assertKept(before, await readModel(path), { events: ["default/e7"] });
  });

  it("[O1] lists a record and a revision that are damaged, and says in the history that it was there", async () => {
    const path = await makeFolder();
    const before = await readModel(path);
    sql(path, "UPDATE records_2 SET p_n = 99 WHERE row = 8; UPDATE event_revisions SET text = 'x'");
    const { report, listed } = await repair(path);
    expect(report.tables).toContainEqual(
      expect.objectContaining({ table: "records_2", read: 20, kept: 19, setAside: 1 }),
    );
    expect(listed.map(({ table }) => table)).toEqual(expect.arrayContaining(["records_2", "event_revisions"]));
    assertKept(before, await readModel(path), { records: ["r7"] });
  });

  it("[O1] reads past a damaged page: the rows on it are lost and named by their ids, all others are back", async () => {
    const path = await makeFolder(600);
    const before = await readModel(path);
    const pages = pagesOf(path, "events");
    breakPage(path, pages[Math.floor(pages.length / 2)] ?? 0);
    const { report, listed } = await repair(path);
    const lost = listed.filter(({ table, fate }) => table === "events" && fate === "lost");
    expect(lost.length).toBeGreaterThan(10);
    const missing = lost.map(({ values }) => `${values?.tenant === 1 ? "default" : "other"}/${values?.id}`);
    expect(report.tables).toContainEqual(
      expect.objectContaining({ table: "events", lost: missing.length, kept: 1202 - missing.length }),
    );
    assertKept(before, await readModel(path), { events: missing });
  });

  it.each(["events", "segments", "records_1", "vectors_1"])(
    "[O1] brings every row back behind a damaged root of %s",
    async (table) => {
      const path = await makeFolder(300);
      const before = await readModel(path);
      const [root = 0, child = 0] = pagesOf(path, table);
      expect(child, "the root holds no rows itself").toBeGreaterThan(0);
      breakPage(path, root);
      const { report } = await repair(path);
      expect(report.complete).toBe(true);
      assertKept(before, await readModel(path));
    },
  );

  it.each(["sessions", "tenants", "spaces"])(
    "[O1] brings the rows of %s back when their only page is damaged",
    async (table) => {
      const path = await makeFolder();
      const before = await readModel(path);
      breakPage(path, pagesOf(path, table)[0] ?? 0);
      const { report } = await repair(path);
      expect(report.tables).toContainEqual(
        expect.objectContaining({ table: "events", kept: 50, setAside: 0, lost: 0 }),
      );
      assertKept(before, await readModel(path));
    },
  );

  it("[O1] lists the few events of which a property stood on a damaged root", async () => {
    const path = await makeFolder(300);
    const before = await readModel(path);
    // Rows of a table without row ids stand on its inner pages too.
    breakPage(path, pagesOf(path, "event_properties")[0] ?? 0);
    const { report, listed } = await repair(path);
    const missing = listed
      .filter(({ table }) => table === "events")
      .map(({ values }) => `${values?.tenant === 1 ? "default" : "other"}/${values?.id}`);
    expect(missing.length).toBeLessThan(12);
    expect(report.tables).toContainEqual(expect.objectContaining({ table: "events", setAside: missing.length }));
    assertKept(before, await readModel(path), { events: missing });
  });

  it("[O1] needs no first page: the tables are found without it", async () => {
    const path = await makeFolder();
    const before = await readModel(path);
    breakPage(path, 1);
    const { report } = await repair(path);
    expect(report.complete).toBe(true);
    assertKept(before, await readModel(path));
  });

  it("[O1] brings back what is left of a file that was cut off, and counts what is not", async () => {
    const path = await makeFolder(300);
    const pages = value(path, "PRAGMA page_count");
    truncateSync(join(path, DATABASE_FILE), Math.floor(pages * 0.8) * PAGE_BYTES + 100);
    const { report } = await repair(path);
    const events = report.tables.find(({ table }) => table === "events");
    expect((events?.kept ?? 0) + (events?.setAside ?? 0) + (events?.lost ?? 0)).toBe(602);
    expect(events?.kept).toBeGreaterThan(0);
    await readModel(path);
  });

  it("[O1] makes an empty memory of an empty file, and says that it is not complete", async () => {
    const path = await makeFolder();
    truncateSync(join(path, DATABASE_FILE), 0);
    const { report } = await repair(path);
    expect(report.complete).toBe(false);
  });

  it("[O1] flips of single bits anywhere cost at most what they hit", async () => {
    const path = await makeFolder();
    const before = await readModel(path);
    const pages = value(path, "PRAGMA page_count");
    for (let page = 2; page <= pages; page += 1)
      bytes(path, (page - 1) * PAGE_BYTES + 8_000 + page * 7, (old) => Buffer.from([(old[0] ?? 0) ^ 4]));
    const { report } = await repair(path);
    const after = await readModel(path);
    const lost = [...before.events.keys()].filter((key) => !after.events.has(key));
    const events = report.tables.find(({ table }) => table === "events");
    expect(lost.length).toBe((events?.setAside ?? 0) + (events?.lost ?? 0));
    assertKept(before, after, {
      events: lost,
      records: [...before.records.keys()].filter((id) => !after.records.has(id)),
    });
  });

  it("[O1] does not bring back what was deleted", async () => {
    const path = await makeFolder();
    sql(
      path,
      "DELETE FROM tenants WHERE id = 'other'; INSERT INTO ended_tenants VALUES (2, 0); UPDATE sessions SET ending = 1 WHERE id = 'empty' AND tenant = 1; UPDATE events SET digest = 'x'",
    );
    await repair(path);
    const { events } = await readModel(path);
    expect([...events.keys()].filter((key) => key.startsWith("other/") || key.endsWith("/z"))).toEqual([]);
    expect(events.size).toBe(24);
  });

  it("[O1] leaves files alone that are not Holdfast's", async () => {
    const path = await makeFolder();
    writeFileSync(join(path, "notes.txt"), "mine");
    sql(path, "DELETE FROM segment_lengths");
    const report = await repairFolder(path, { threads: "inline" });
    expect(report.complete).toBe(true);
    expect(readFileSync(join(path, "notes.txt"), "utf8")).toBe("mine");
  });

  it("[O1] says in a dry run what it would do, and changes nothing", async () => {
    const path = await makeFolder();
    sql(path, `UPDATE events SET text = 'Another text' WHERE event = ${EVENT}`);
    const before = readFileSync(join(path, DATABASE_FILE));
    const report = await repairFolder(path, { threads: "inline", dryRun: true });
    expect(report).toMatchObject({ outcome: "dry-run", complete: false });
    expect(report.tables).toContainEqual(expect.objectContaining({ table: "events", kept: 49, setAside: 1 }));
    expect(readFileSync(join(path, DATABASE_FILE)).equals(before)).toBe(true);
    expect(readdirSync(path)).toEqual([DATABASE_FILE]);
  });

  it("[O1] refuses a folder that is open", async () => {
    const { memory, path, raw } = await openMemoryBed();
    await (await memory.createSession("a")).remember({ id: "e", text: "One" });
    raw.exec("UPDATE events SET digest = 'x'");
    await expect(repairFolder(path, { threads: "inline" })).rejects.toMatchObject({ code: "BUSY" });
  });

  it("[O6] ends where its caller stops it, and the folder is what it was", async () => {
    const path = await makeFolder(100);
    const before = await readModel(path);
    sql(path, "DELETE FROM segment_lengths");
    const controller = new AbortController();
    const onProgress = ({ stage }: { stage: string }): void => {
      if (stage === "events") controller.abort();
    };
    await expect(
      repairFolder(path, { threads: "inline", signal: controller.signal, onProgress }),
    ).rejects.toMatchObject({ code: "ABORTED" });
    expect(readdirSync(path)).toEqual([DATABASE_FILE]);
    await repair(path);
    assertKept(before, await readModel(path));
  });

  it("[O1] keeps a tenant unseen that is being taken in, also where its row is damaged", async () => {
    const path = await makeFolder();
    sql(
      path,
      "INSERT INTO imports VALUES (5, 'a', 1, 'd', 0, 0, 0, 0, NULL, 0); UPDATE tenants SET import = 5 WHERE id = 'other'",
    );
    breakPage(path, pagesOf(path, "tenants")[0] ?? 0);
    await repair(path);
    expect(value(path, "SELECT import FROM tenants WHERE tenant = 2")).toBe(5);
    const { events } = await readModel(path);
    expect([...events.keys()].every((key) => key.startsWith("default/"))).toBe(true);
  });
});
