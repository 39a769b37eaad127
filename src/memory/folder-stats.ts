import type { Connection } from "../database/connection.ts";
import { isKept } from "../database/folder-files.ts";
import { type ReadOperation, type ReadView, readOperation } from "../database/operation.ts";
import { listFolder, sizeOf } from "../io/disk.ts";
import type { FolderBytes, FolderStats } from "./folder-contract.ts";

/** What the database itself says; sizes of files are added outside. */
export type FolderStatsRow = Omit<FolderStats, "path" | "bytes" | "createdAt"> & {
  readonly bytes: Omit<FolderBytes, "log" | "kept">;
  /** Microseconds since 1970. */
  readonly createdAt: bigint;
};

type Kind = keyof Omit<FolderBytes, "file" | "log" | "free" | "kept">;

/** What a table's pages, and those of its indexes, are counted as. */
const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/^vectors_\d+$/, "vectors"],
  [/^(records|removals)_\d+$/, "records"],
  [/^(events|event_revisions|event_properties|summaries)$/, "texts"],
  [/^(segments|segment_lengths|segment_words(_\w+)?)$/, "words"],
  [/^receipts?(_\w+)?$/, "receipts"],
  [/^changes$/, "changes"],
];

/** Reads every page of the file: to be called aside. */
export const readFolderStats: ReadOperation<null, FolderStatsRow> = readOperation("memory.folder-stats", (view) => {
  const { connection } = view;
  const count = (sql: string): number => Number(connection.prepare(sql).get()?.count ?? 0);
  const meta = connection.prepare("SELECT epoch, created_at FROM holdfast", { bigints: true }).get();
  const records = sumOf(connection, "records", count);
  const live = count("SELECT coalesce(sum(records), 0) AS count FROM partitions");
  return {
    format: Number(connection.prepare("PRAGMA user_version").get()?.user_version),
    epoch: String(meta?.epoch),
    createdAt: BigInt((meta?.created_at as bigint | undefined) ?? 0n),
    bytes: bytesOf(view, count),
    rows: {
      tenants: count("SELECT count(*) AS count FROM tenants"),
      sessions: count("SELECT count(*) AS count FROM sessions WHERE ending = 0"),
      events: count("SELECT count(*) AS count FROM events"),
      revisions: count("SELECT count(*) AS count FROM event_revisions"),
      segments: count("SELECT count(*) AS count FROM segments"),
      vectors: live,
      changes: count("SELECT count(*) AS count FROM changes"),
      removals: sumOf(connection, "removals", count),
    },
    pending: {
      waiting: count("SELECT count(*) AS count FROM pending_vectors WHERE state = 'waiting'"),
      parked: count("SELECT count(*) AS count FROM pending_vectors WHERE state = 'parked'"),
    },
    dead: {
      records: Math.max(0, records - live),
      partitions: count("SELECT count(*) AS count FROM tombstones"),
      tenants: count("SELECT count(*) AS count FROM ended_tenants"),
      sessions: count("SELECT count(*) AS count FROM sessions WHERE ending = 1"),
    },
    positions: {
      commits: count("SELECT coalesce(sum(position), 0) AS count FROM partitions"),
      changes: count("SELECT coalesce(max(seq), 0) AS count FROM sqlite_sequence WHERE name = 'changes'"),
    },
  };
});

function sumOf(connection: Connection, table: "records" | "removals", count: (sql: string) => number): number {
  let sum = 0;
  for (const { store } of connection.prepare("SELECT store FROM stores").all())
    sum += count(`SELECT count(*) AS count FROM ${table}_${Number(store)}`);
  return sum;
}

function bytesOf(view: ReadView, count: (sql: string) => number): FolderStatsRow["bytes"] {
  const bytes = { vectors: 0, records: 0, texts: 0, words: 0, receipts: 0, changes: 0, other: 0 };
  const tables = new Map(
    view.connection
      .prepare("SELECT name, tbl_name FROM sqlite_schema")
      .all()
      .map(({ name, tbl_name: table }) => [String(name), String(table)]),
  );
  for (const { name, bytes: size } of treesOf(view)) {
    const table = tables.get(name) ?? name;
    const [, kind = "other"] = KINDS.find(([pattern]) => pattern.test(table)) ?? [];
    bytes[kind] += size;
  }
  const pageBytes = count("SELECT page_size AS count FROM pragma_page_size()");
  const file = pageBytes * count("SELECT page_count AS count FROM pragma_page_count()");
  const free = pageBytes * count("SELECT freelist_count AS count FROM pragma_freelist_count()");
  // The rest is other tables, and pages that say which page belongs to which.
  const told = Object.values(bytes).reduce((sum, size) => sum + size, free);
  return { file, free, ...bytes, other: bytes.other + file - told };
}

/** Bytes of the pages of each table and index. */
function* treesOf({
  connection,
  cancellation,
}: ReadView): Generator<{ readonly name: string; readonly bytes: number }> {
  for (const { name, pgsize } of connection
    .prepare("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE")
    .iterate()) {
    cancellation.assertLive();
    yield { name: String(name), bytes: Number(pgsize) };
  }
}

/** Bytes of what restores, upgrades and repairs have kept beside the database, which nothing reads. */
export function keptBytesOf(folder: string): number {
  return (listFolder(folder) ?? []).filter(isKept).reduce((sum, name) => sum + sizeOf(`${folder}/${name}`), 0);
}
