import type { Connection } from "../database/connection.ts";
import { HoldfastError } from "../errors/index.ts";
import { mintId } from "../io/ids.ts";

/** What a handle is bound to: one life of a partition (P8). */
export interface Life {
  readonly store: number;
  readonly partition: number;
  readonly key: string;
  readonly incarnation: string;
}

/** A life with what its commits have counted. */
export interface LifeState {
  /** Raised by each commit that touches the partition (D5). */
  readonly position: number;
  readonly records: number;
  /** XOR of the rows' checksums (E11). */
  readonly checksum: number;
  /** Removals at or below this sequence are no longer listed: an older follower loads again (D6). */
  readonly removalsFloor: number;
}

/** Strict: of racing creations one wins, since the key is unique in the commit (P2, V18). */
export function createLife(connection: Connection, store: number, key: string, nowMicros: number): Life {
  const incarnation = mintId();
  const insert = connection.prepare(
    `INSERT INTO partitions (store, key, incarnation, position, records, checksum, removals_floor, created_at)
     VALUES (?, ?, ?, 0, 0, 0, 0, ?) ON CONFLICT (store, key) DO NOTHING`,
  );
  const { changes, lastInsertRowid } = insert.run(store, key, incarnation, nowMicros);
  if (changes === 0) {
    const message = `The partition "${key}" exists already; use getPartition, or delete it first.`;
    throw new HoldfastError("PARTITION_ALREADY_EXISTS", message, { details: { key } });
  }
  return { store, partition: lastInsertRowid, key, incarnation };
}

export function findLife(connection: Connection, store: number, key: string): Life | undefined {
  const row = connection
    .prepare("SELECT partition, incarnation FROM partitions WHERE store = ? AND key = ?")
    .get(store, key);
  return row && { store, partition: Number(row.partition), key, incarnation: String(row.incarnation) };
}

/** The state of a life, or PARTITION_STALE when it has ended: the fence of every read and write (P8, D9). */
export function requireLife(connection: Connection, life: Life): LifeState {
  const select = connection.prepare(
    "SELECT position, records, checksum, removals_floor FROM partitions WHERE partition = ? AND incarnation = ?",
  );
  const row = select.get(life.partition, life.incarnation);
  if (row === undefined) {
    const message = `The partition "${life.key}" was deleted; this handle is of its ended life: get or create the partition anew.`;
    throw new HoldfastError("PARTITION_STALE", message, { details: { key: life.key, incarnation: life.incarnation } });
  }
  return {
    position: Number(row.position),
    records: Number(row.records),
    checksum: Number(row.checksum),
    removalsFloor: Number(row.removals_floor),
  };
}

/** Stores what a commit counted and raises the position by one. */
export function advanceLife(connection: Connection, life: Life, state: LifeState): number {
  const position = state.position + 1;
  connection
    .prepare("UPDATE partitions SET position = ?, records = ?, checksum = ? WHERE partition = ?")
    .run(position, state.records, state.checksum, life.partition);
  return position;
}

/** Logical and O(1): the row goes and a tombstone stays until the rows are reclaimed (G1). */
export function endLife(connection: Connection, store: number, key: string, nowMicros: number): number | undefined {
  const row = connection
    .prepare("DELETE FROM partitions WHERE store = ? AND key = ? RETURNING partition, incarnation")
    .get(store, key);
  if (row === undefined) return undefined;
  connection
    .prepare("INSERT INTO tombstones (partition, store, incarnation, deleted_at) VALUES (?, ?, ?, ?)")
    .run(Number(row.partition), store, String(row.incarnation), nowMicros);
  return Number(row.partition);
}
