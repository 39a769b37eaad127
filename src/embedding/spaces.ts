import type { Connection } from "../database/connection.ts";
import { HoldfastError } from "../errors/index.ts";

/** A space is one model identity; its vectors lie in a store of its own (M1, D10). One space serves at a time. */
export const SPACES_SCHEMA = `
CREATE TABLE spaces (
  space INTEGER PRIMARY KEY AUTOINCREMENT,
  identity TEXT NOT NULL UNIQUE,
  dimensions INTEGER NOT NULL,
  store INTEGER NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;`;

export interface Space {
  readonly space: number;
  readonly identity: string;
  readonly dimensions: number;
  readonly store: number;
}

/** What an embedder says of itself, as the database keeps it. */
export interface SpaceIdentity {
  readonly identity: string;
  readonly dimensions: number;
}

/** The space that serves, or `undefined` before the first vector. */
export function currentSpace(connection: Connection): Space | undefined {
  const row = connection
    .prepare("SELECT space, identity, dimensions, store FROM spaces ORDER BY space DESC LIMIT 1")
    .get();
  return (
    row && {
      space: Number(row.space),
      identity: String(row.identity),
      dimensions: Number(row.dimensions),
      store: Number(row.store),
    }
  );
}

export function insertSpace(
  connection: Connection,
  space: SpaceIdentity & { readonly store: number },
  createdAt: bigint,
): Space {
  const { identity, dimensions, store } = space;
  const insert = connection.prepare("INSERT INTO spaces (identity, dimensions, store, created_at) VALUES (?, ?, ?, ?)");
  return { space: insert.run(identity, dimensions, store, createdAt).lastInsertRowid, identity, dimensions, store };
}

/** Vectors of two models are never compared, and never mixed in one space (M3). */
export function assertSameSpace(space: Space, embedder: SpaceIdentity): void {
  if (space.identity === embedder.identity) return;
  const message =
    "The memory's vectors were made by another embedding model; open it with that model's embedder. Searching by text alone works with any.";
  throw new HoldfastError("EMBEDDING_SPACE_MISMATCH", message, {
    details: { stored: space.identity, given: embedder.identity },
  });
}
