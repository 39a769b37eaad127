import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DATABASE_FILE } from "../../../src/database/open-files.ts";
import type { FindingKind } from "../../../src/verify/findings.ts";
import { verifyFolder } from "../../../src/verify-folder.ts";
import { openMemoryBed } from "../memory/memories.ts";
import { breakPage, bytes, makeFolder, PAGE_BYTES, pagesOf, sql, value } from "./damaged-folders.ts";

const verify = (path: string, options = {}) => verifyFolder(path, { threads: "inline", ...options });

type Damage = readonly [what: string, sql: string, kind: FindingKind, place: string];

const SEGMENT = "(SELECT segment FROM segments ORDER BY segment LIMIT 1 OFFSET 5)";
const EVENT = "(SELECT event FROM events WHERE id = 'e7' AND tenant = 1)";

/** Damage of rows on pages that are whole. */
const ROWS: readonly Damage[] = [
  ["an event's text", `UPDATE events SET text = 'Another text' WHERE event = ${EVENT}`, "event", "events"],
  ["an event's label", `UPDATE events SET producer = 'mallory' WHERE event = ${EVENT}`, "event", "events"],
  [
    "an event's property",
    `UPDATE event_properties SET value = 'x' WHERE name = 'topic' AND event = ${EVENT}`,
    "event",
    "events",
  ],
  [
    "a time among an event's properties that is none",
    `UPDATE event_properties SET value = 'soon' WHERE name = 'when' AND event = ${EVENT}`,
    "event",
    "events",
  ],
  [
    "a number among an event's properties that is none",
    `UPDATE event_properties SET value = x'00ff' WHERE name = 'index' AND event = ${EVENT}`,
    "event",
    "events",
  ],
  ["an event's digest", `UPDATE events SET digest = 'x' WHERE event = ${EVENT}`, "event", "events"],
  ["a session's row gone", "DELETE FROM sessions WHERE id = 'diary' AND tenant = 1", "orphan-event", "events"],
  ["a session's tenant gone", "DELETE FROM tenants WHERE id = 'other'", "session", "sessions"],
  ["an earlier revision", "UPDATE event_revisions SET text = 'x'", "revision", "event_revisions"],
  ["an earlier revision gone", "DELETE FROM event_revisions", "revision", "event_revisions"],
  [
    "a property without its event",
    "INSERT INTO event_properties VALUES (999, 'a', 'string', 'b', NULL)",
    "property",
    "event_properties",
  ],
  ["a segment's range", `UPDATE segments SET start = start + 1 WHERE segment = ${SEGMENT}`, "segment", "segments"],
  ["a segment gone", `DELETE FROM segments WHERE segment = ${SEGMENT}`, "coverage", "events"],
  [
    "a segment without its event",
    "INSERT INTO segments VALUES (999, 1, 999, 0, 1, 0, 1, '')",
    "orphan-segment",
    "segments",
  ],
  [
    "a segment's words",
    `UPDATE segments SET token_string = 'other words' WHERE segment = ${SEGMENT}`,
    "words",
    "segments",
  ],
  ["a segment without words", `DELETE FROM segment_lengths WHERE segment = ${SEGMENT}`, "words", "segment_lengths"],
  [
    "words that are in no segment",
    "INSERT INTO segment_words (rowid, words) VALUES (777, '1_ghost')",
    "text-index",
    "segment_words",
  ],
  [
    "a segment that the text index lacks",
    `INSERT INTO segment_words (segment_words, rowid, words) SELECT 'delete', segment, '1_' || replace(token_string, ' ', ' 1_') FROM segments WHERE segment = ${SEGMENT}`,
    "text-index",
    "segment_words",
  ],
  [
    "a segment that nothing embeds",
    `UPDATE segments SET vectors = 0 WHERE segment = ${SEGMENT}`,
    "segment-vectors",
    "segments",
  ],
  ["a vector's record gone", "DELETE FROM records_1 WHERE row = 4", "segment-vectors", "segments"],
  ["a value beside a vector", "UPDATE records_1 SET p_user = 'bob' WHERE row = 4", "columns", "records_1"],
  ["a vector's bytes", "UPDATE vectors_1 SET vector = zeroblob(256) WHERE row = 4", "record", "records_1"],
  ["a vector gone", "DELETE FROM vectors_1 WHERE row = 4", "vector", "records_1"],
  ["a vector too short", "UPDATE vectors_1 SET vector = x'0000803f' WHERE row = 4", "vector", "records_1"],
  ["a vector without a record", "INSERT INTO vectors_2 VALUES (999, zeroblob(32))", "orphan-vector", "vectors_2"],
  ["a record's value", "UPDATE records_2 SET p_n = 99 WHERE row = 8", "record", "records_2"],
  [
    "a record of no partition",
    "INSERT INTO records_2 (row, partition, id, checksum) VALUES (999, 77, 'x', 1)",
    "orphan-record",
    "records_2",
  ],
  [
    "a partition's count",
    "UPDATE partitions SET records = records + 1 WHERE key = 'main'",
    "partition-sum",
    "partitions",
  ],
  [
    "a partition's sum",
    "UPDATE partitions SET checksum = checksum + 1 WHERE key = 'main'",
    "partition-sum",
    "partitions",
  ],
  [
    "a partition without its store",
    "INSERT INTO partitions VALUES (99, 77, 'k', 'i', 0, 0, 0, 0, 0)",
    "partition",
    "partitions",
  ],
  ["a store's schema", "UPDATE stores SET properties = '[[' WHERE name = 'docs'", "store", "stores"],
  ["a space's store", "UPDATE spaces SET dimensions = 5", "space", "spaces"],
  ["a tenant's storage", "DELETE FROM partitions WHERE key = 'tenant_1'", "tenant", "tenants"],
  ["a tenant's count", "UPDATE tenants SET documents = documents + 1 WHERE id = 'other'", "tenant-count", "tenants"],
  [
    "a pending segment that is gone",
    "INSERT INTO pending_vectors VALUES (999, 1, 'waiting', 0, 0, 'x')",
    "pending",
    "pending_vectors",
  ],
  [
    "a summary of a session that is gone",
    "UPDATE summaries SET to_event = 999 WHERE tenant = 1",
    "summary",
    "summaries",
  ],
  ["a counter that stands behind", "UPDATE sqlite_sequence SET seq = 3 WHERE name = 'events'", "sequence", "events"],
  ["a missing index", "DROP INDEX events_by_session", "schema", "events_by_session"],
];

describe("verify", () => {
  it("[O1] finds nothing in a whole folder, counts what it read, and changes no byte of it", async () => {
    const path = await makeFolder();
    const before = filesOf(path);
    const stages = new Set<string>();
    const report = await verify(path, { deep: true, onProgress: ({ stage }: { stage: string }) => stages.add(stage) });
    expect(report).toMatchObject({ ok: true, findings: [], totals: {}, deep: true });
    expect(report.counts).toMatchObject({
      tenants: 2,
      sessions: 4,
      events: 50,
      revisions: 1,
      segments: 98,
      partitions: 3,
      records: 118,
    });
    expect(stages.size).toBeGreaterThan(0);
    expect(filesOf(path)).toEqual(before);
  });

  it.each(ROWS)("[O1, E11] names %s", async (_, statement, kind, place) => {
    const path = await makeFolder();
    sql(path, statement);
    const report = await verify(path);
    expect(report.ok).toBe(false);
    expect(report.findings).toContainEqual(expect.objectContaining({ kind, place }));
    expect(report.totals.unchecked).toBeUndefined();
  });

  it("[O1] sees a row that an index lacks, which a lookup by that index answers as not there", async () => {
    const path = await makeFolder();
    // A leaf of the index that says it holds fewer entries is well formed.
    const leaf = pagesOf(path, "segments_by_event").at(-1) ?? 0;
    bytes(path, (leaf - 1) * PAGE_BYTES + 3, (old) => Buffer.from([old[0] ?? 0, (old[1] ?? 0) - 3]), 2);
    const report = await verify(path);
    expect(report.ok).toBe(false);
    expect(report.findings.some(({ place }) => place === "segments_by_event")).toBe(true);
  });

  it("[O1] names the table of a damaged page and the range of keys on it, and reads the rows before and behind", async () => {
    const path = await makeFolder(600);
    const pages = pagesOf(path, "events");
    const middle = pages[Math.floor(pages.length / 2)] ?? 0;
    breakPage(path, middle);
    const report = await verify(path);
    expect(report.findings).toContainEqual(expect.objectContaining({ kind: "page", place: "events" }));
    const range = report.findings.find(({ kind, place }) => kind === "unreadable" && place === "events")?.row ?? "";
    expect(range).toMatch(/^\d+ to \d+ /);
    const [from = 0, to = 0] = range.split(" to ").map((part) => Number.parseInt(part, 10));
    expect(to - from).toBeLessThan(200);
    expect(report.counts.events).toBe(1202 - (to - from - 1));
  });

  it("[O1] goes on with the other tables when the root of one is gone", async () => {
    const path = await makeFolder(60);
    breakPage(path, pagesOf(path, "segments")[0] ?? 0);
    const report = await verify(path);
    expect(report.findings).toContainEqual(expect.objectContaining({ kind: "page", place: "segments" }));
    expect(report.counts).toMatchObject({ tenants: 2, events: 122, partitions: 3 });
  });

  it("[O1] says where a file was cut off", async () => {
    const path = await makeFolder();
    const pages = value(path, "PRAGMA page_count");
    truncateSync(join(path, DATABASE_FILE), (pages - 10) * PAGE_BYTES);
    const report = await verify(path);
    expect(report.findings).toContainEqual(
      expect.objectContaining({ kind: "short-file", place: DATABASE_FILE, row: `from page ${pages - 9}` }),
    );
  });

  it("[O1] says that a file is empty, or that its first page cannot be read", async () => {
    const path = await makeFolder();
    bytes(path, 0, () => Buffer.from("something else!!"), 16);
    expect((await verify(path)).findings).toMatchObject([{ kind: "header", row: "page 1" }]);
    truncateSync(join(path, DATABASE_FILE), 0);
    expect((await verify(path)).findings).toMatchObject([{ kind: "empty-database" }]);
    expect(readFileSync(join(path, DATABASE_FILE)).byteLength).toBe(0);
  });

  it("[O1] lists files that are not Holdfast's and still says that the memory is whole", async () => {
    const path = await makeFolder();
    writeFileSync(join(path, "notes.txt"), "mine");
    expect(await verify(path)).toMatchObject({ ok: true, findings: [{ kind: "foreign-file", place: "notes.txt" }] });
  });

  it("[O1] refuses what is no folder of Holdfast's, and options that it does not have", async () => {
    const path = await makeFolder();
    await expect(verify(join(path, "nowhere"))).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(verify(path, { depth: true })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(verify(path, { maxFindings: 0 })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    sql(path, "PRAGMA user_version = 99");
    await expect(verify(path)).rejects.toMatchObject({ code: "FORMAT_TOO_NEW" });
  });

  it("[O1] bounds the findings that it lists and counts all", async () => {
    const path = await makeFolder();
    sql(path, "UPDATE events SET text = text || '!'");
    const report = await verify(path, { maxFindings: 3 });
    expect(report.findings).toHaveLength(3);
    expect(report.totals.event).toBe(50);
  });

  it("[O1] sees one moment of a folder that is written meanwhile, and the writer goes on", async () => {
    const { memory, path } = await openMemoryBed();
    const session = await memory.createSession("a");
    for (let index = 0; index < 40; index += 1) await session.remember({ id: `n${index}`, text: `Number ${index}` });
    const written: Promise<unknown>[] = [];
    const report = await verify(path, {
      onProgress: () =>
        written.push(session.remember({ id: `w${written.length}`, text: `While verifying ${written.length}` })),
    });
    expect(report).toMatchObject({ ok: true, counts: { events: 40 } });
    await Promise.all(written);
    expect(written.length).toBeGreaterThan(0);
    expect((await verify(path)).counts.events).toBe(40 + written.length);
  });

  it("[O6] ends where its caller stops it, and leaves nothing open", async () => {
    const path = await makeFolder(600);
    const controller = new AbortController();
    const verifying = verify(path, { signal: controller.signal, onProgress: () => controller.abort() });
    await expect(verifying).rejects.toMatchObject({ code: "ABORTED" });
    expect(readdirSync(path)).toEqual([DATABASE_FILE]);
  });
});

describe("a log that a crash left", () => {
  /** The files of a folder as a killed process leaves them: commits that are in the log alone. */
  async function crashedFolder() {
    const { memory, path } = await openMemoryBed({ path: await makeFolder() });
    const session = await memory.createSession("a");
    for (let index = 0; index < 8; index += 1) await session.remember({ id: `n${index}`, text: `Number ${index}` });
    const copy = await makeFolder();
    for (const name of readdirSync(path)) writeFileSync(join(copy, name), readFileSync(join(path, name)));
    return copy;
  }

  it("[O1] is read where it is: what it holds counts, and it stays", async () => {
    const path = await crashedFolder();
    const log = readFileSync(join(path, `${DATABASE_FILE}-wal`));
    const database = readFileSync(join(path, DATABASE_FILE));
    expect(await verify(path)).toMatchObject({ ok: true, counts: { events: 58 } });
    expect(readFileSync(join(path, `${DATABASE_FILE}-wal`)).equals(log)).toBe(true);
    expect(readFileSync(join(path, DATABASE_FILE)).equals(database)).toBe(true);
  });

  it("[O1] is missed when it is gone", async () => {
    const path = await crashedFolder();
    const log = join(path, `${DATABASE_FILE}-wal`);
    truncateSync(log, 0);
    expect(existsSync(`${log.replace("-wal", "-shm")}`)).toBe(true);
    expect((await verify(path)).findings).toContainEqual(expect.objectContaining({ kind: "log-missing" }));
  });

  it("[O1] is told of when it is damaged before its last commit", async () => {
    const path = await crashedFolder();
    const log = join(path, `${DATABASE_FILE}-wal`);
    const content = readFileSync(log);
    const at = 32 + 5 * (24 + PAGE_BYTES) + 2_000;
    content[at] = (content[at] ?? 0) ^ 1;
    writeFileSync(log, content);
    expect((await verify(path)).findings).toContainEqual(
      expect.objectContaining({ kind: "log-damaged", row: "frame 6" }),
    );
  });
});

function filesOf(path: string): readonly string[] {
  return readdirSync(path).map((name) => {
    const digest = createHash("sha256")
      .update(readFileSync(join(path, name)))
      .digest("hex");
    return `${name} ${digest}`;
  });
}
