import type { Connection } from "../../database/connection.ts";

/** Removals kept for followers: one that is further behind loads its partition again (D6). */
export const REMOVALS_KEPT = 65_536;

/** Removals dropped beyond those that the same commit added, so that a long list shrinks. */
const TRIM_SURPLUS = 64;

/** Drops the oldest removals, about as many as were added, and notes for whom the list is now too short. */
export function trimRemovals(connection: Connection, store: number, added: number): void {
  const bounds = connection
    .prepare(
      `SELECT (SELECT min(sequence) FROM removals_${store}) AS first, (SELECT max(sequence) FROM removals_${store}) AS last`,
    )
    .get();
  const first = Number(bounds?.first ?? 0);
  const surplus = Number(bounds?.last ?? 0) - REMOVALS_KEPT - first + 1;
  if (surplus <= 0) return;
  const upTo = first + Math.min(surplus, added + TRIM_SURPLUS) - 1;
  connection
    .prepare(
      `UPDATE partitions SET removals_floor = trimmed.floor FROM
       (SELECT partition, max(sequence) AS floor FROM removals_${store} WHERE sequence <= ? GROUP BY partition) AS trimmed
       WHERE partitions.partition = trimmed.partition`,
    )
    .run(upTo);
  connection.prepare(`DELETE FROM removals_${store} WHERE sequence <= ?`).run(upTo);
}
