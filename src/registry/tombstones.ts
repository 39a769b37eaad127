import type { Connection } from "../database/connection.ts";

/** An ended life whose rows may still be there. */
export interface Tombstone {
  readonly partition: number;
  readonly store: number;
}

export function oldestTombstone(connection: Connection): Tombstone | undefined {
  const row = connection.prepare("SELECT partition, store FROM tombstones ORDER BY partition LIMIT 1").get();
  return row && { partition: Number(row.partition), store: Number(row.store) };
}

export function hasTombstone(connection: Connection, partition: number): boolean {
  return connection.prepare("SELECT 1 AS found FROM tombstones WHERE partition = ?").get(partition) !== undefined;
}

export function dropTombstone(connection: Connection, partition: number): void {
  connection.prepare("DELETE FROM tombstones WHERE partition = ?").run(partition);
}
