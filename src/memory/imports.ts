import { ARCHIVE_START, type ArchivePlace } from "../archive/check-chain.ts";
import type { PropertySchema } from "../contract/properties.ts";
import type { Connection } from "../database/connection.ts";
import {
  type ReadOperation,
  readOperation,
  type WriteOperation,
  type WriteUnit,
  writeOperation,
} from "../database/operation.ts";
import { currentSpace, type SpaceIdentity } from "../embedding/spaces.ts";
import { HoldfastError } from "../errors/index.ts";
import { hasUndeclared } from "./declared-keys.ts";
import { endLives } from "./tenants.ts";

/**
 * Archives that are being taken in: whose tenants are in their rows and found by nobody yet. `archive` names the file
 * and what it becomes, so that whoever was interrupted goes on behind `lines`, of which `digest` is proof. Numbers of
 * the archive's events and segments are raised by a base, in a range that is kept free for them. One that was made
 * visible lists its tenants for a while, so that whoever missed the answer is told that it is done.
 */
export const IMPORTS_SCHEMA = `
CREATE TABLE imports (
  import INTEGER PRIMARY KEY AUTOINCREMENT,
  archive TEXT NOT NULL UNIQUE,
  lines INTEGER NOT NULL,
  digest TEXT NOT NULL,
  event_base INTEGER NOT NULL,
  segment_base INTEGER NOT NULL,
  takes_vectors INTEGER NOT NULL,
  declares_keys INTEGER NOT NULL,
  published TEXT,
  touched_at INTEGER NOT NULL
) STRICT;`;

/** An import that nobody goes on with for so long is let go, and one that is done is forgotten. */
const ABANDONED_AFTER_MICROS = 7 * 24 * 3_600 * 1_000_000;

/** Numbers of events and segments stay exact in a `number`. */
const NUMBER_MAX = 2 ** 52;

export interface BeginImportInput {
  readonly archive: string;
  readonly lastEvent: number;
  readonly lastSegment: number;
  /** Of the archive's vectors; absent where it has none. */
  readonly space: string | undefined;
  readonly keys: PropertySchema;
  readonly embedder: SpaceIdentity;
}

export interface BegunImport {
  readonly import: number;
  readonly place: ArchivePlace;
  /** Whether its vectors are of the folder's space; otherwise its segments are pending. */
  readonly takesVectors: boolean;
  /** All of it is visible already. */
  readonly isPublished: boolean;
}

/** Begins an import, or answers how far one of the same archive came. */
export const beginImport: WriteOperation<BeginImportInput, BegunImport> = writeOperation(
  "memory.begin-import",
  (unit, input) => {
    const { connection, nowMicros } = unit;
    const space = currentSpace(connection);
    const takesVectors = input.space !== undefined && input.space === (space ?? input.embedder).identity;
    const found = connection.prepare("SELECT * FROM imports WHERE archive = ?").get(input.archive);
    if (found !== undefined) {
      const begun = Number(found.import);
      const place = { lines: Number(found.lines), digest: String(found.digest) };
      const tookVectors = found.takes_vectors === 1;
      if (isPublished(connection, input.archive))
        return { import: begun, place, takesVectors: tookVectors, isPublished: true };
      if (found.published === null && tookVectors === takesVectors)
        return { import: begun, place, takesVectors, isPublished: false };
      // Its tenants were deleted, or what lies there is of another model: it begins anew.
      dropImport(unit, begun);
    }
    const isEmpty = connection.prepare("SELECT 1 AS found FROM segments LIMIT 1").get() === undefined;
    if (isEmpty) hasUndeclared.run(unit, input.keys);
    const { lastInsertRowid } = connection
      .prepare(
        `INSERT INTO imports (archive, lines, digest, event_base, segment_base, takes_vectors, declares_keys, touched_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        input.archive,
        ARCHIVE_START.lines,
        ARCHIVE_START.digest,
        reserve(connection, "events", input.lastEvent),
        reserve(connection, "segments", input.lastSegment),
        takesVectors ? 1 : 0,
        isEmpty ? 1 : 0,
        nowMicros,
      );
    return { import: lastInsertRowid, place: ARCHIVE_START, takesVectors, isPublished: false };
  },
);

/** Whether this archive was taken in, and all of its tenants are still there. */
export const wasImported: ReadOperation<string, boolean> = readOperation("memory.was-imported", (view, archive) =>
  isPublished(view.connection, archive),
);

function isPublished(connection: Connection, archive: string): boolean {
  const row = connection
    .prepare(
      `SELECT published IS NOT NULL AND NOT EXISTS (
         SELECT 1 FROM json_each(published) AS own WHERE own.value NOT IN (SELECT tenant FROM tenants)
       ) AS published FROM imports WHERE archive = ?`,
    )
    .get(archive);
  return row?.published === 1;
}

/** Keeps the next `count` numbers of a table free; answers the last one before them. */
function reserve(connection: Connection, table: "events" | "segments", count: number): number {
  const row = connection.prepare("SELECT seq FROM sqlite_sequence WHERE name = ?").get(table);
  const base = Number(row?.seq ?? 0);
  if (base + count > NUMBER_MAX)
    throw new HoldfastError(
      "LIMIT_EXCEEDED",
      `The folder has no ${count} numbers left for ${table}; take a new folder.`,
    );
  if (row === undefined) connection.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)").run(table, count);
  else connection.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = ?").run(base + count, table);
  return base;
}

/** Lets go of what was taken in, as of ended tenants; nobody has seen any of it. */
export const discardImport: WriteOperation<number, null> = writeOperation("memory.discard-import", (unit, begun) => {
  dropImport(unit, begun);
  return null;
});

/** Lets go of one import that nobody went on with; answers whether there was one. */
export function dropAbandonedImport(unit: WriteUnit): boolean {
  const row = unit.connection
    .prepare("SELECT import FROM imports WHERE touched_at < ? LIMIT 1")
    .get(unit.nowMicros - ABANDONED_AFTER_MICROS);
  if (row === undefined) return false;
  dropImport(unit, Number(row.import));
  return true;
}

export function dropImport(unit: WriteUnit, begun: number): void {
  const { connection } = unit;
  for (const { tenant } of connection.prepare("SELECT tenant FROM tenants WHERE import = ?").all(begun))
    endLives(unit, Number(tenant));
  connection.prepare("DELETE FROM tenants WHERE import = ?").run(begun);
  connection.prepare("DELETE FROM imports WHERE import = ?").run(begun);
}
