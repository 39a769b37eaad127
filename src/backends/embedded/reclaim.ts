import { type WriteOperation, type WriteUnit, writeOperation } from "../../database/operation.ts";
import { dropReceiptsOf } from "../../registry/receipts.ts";
import { dropTombstone, hasTombstone, oldestTombstone, type Tombstone } from "../../registry/tombstones.ts";

/** Rows that one step reclaims: a commit of a few milliseconds, so that other writers go between. */
const ROWS_PER_STEP = 500;

/**
 * Removes up to `rows` records of ended lives, oldest life first, their bytes with them
 * (`secure_delete`). Answers whether ended lives remain.
 */
export function reclaimSome(unit: WriteUnit, rows: number): boolean {
  const tombstone = oldestTombstone(unit.connection);
  if (tombstone === undefined) return false;
  if (reclaimRows(unit, tombstone, rows) < rows) dropTombstone(unit.connection, tombstone.partition);
  return oldestTombstone(unit.connection) !== undefined;
}

function reclaimRows(unit: WriteUnit, { store, partition }: Tombstone, limit: number): number {
  const { connection } = unit;
  const doomed = connection
    .prepare(`SELECT row FROM records_${store} WHERE partition = ? ORDER BY row LIMIT ?`)
    .all(partition, limit);
  const deleteRecord = connection.prepare(`DELETE FROM records_${store} WHERE row = ?`);
  const deleteVector = connection.prepare(`DELETE FROM vectors_${store} WHERE row = ?`);
  for (const { row } of doomed) {
    deleteVector.run(Number(row));
    deleteRecord.run(Number(row));
  }
  const removals = connection.prepare(
    `DELETE FROM removals_${store} WHERE sequence IN (SELECT sequence FROM removals_${store} WHERE partition = ? LIMIT ?)`,
  );
  const receipts = dropReceiptsOf(connection, { kind: "partition", number: partition }, limit);
  return Math.max(doomed.length, removals.run(partition, limit).changes, receipts);
}

/** One bounded step of background reclaiming; answers whether more remains. */
export const reclaimStep: WriteOperation<null, boolean> = writeOperation("embedded.reclaim", (unit, _input) => {
  unit.connection.exec("PRAGMA incremental_vacuum(64)");
  return reclaimSome(unit, ROWS_PER_STEP);
});

/** The same for one ended life alone: whoever erases waits for nobody else's rows. Answers whether rows remain. */
export const reclaimLife: WriteOperation<Tombstone, boolean> = writeOperation(
  "embedded.reclaim-life",
  (unit, tombstone) => {
    if (!hasTombstone(unit.connection, tombstone.partition)) return false;
    if (reclaimRows(unit, tombstone, ROWS_PER_STEP) >= ROWS_PER_STEP) return true;
    dropTombstone(unit.connection, tombstone.partition);
    return false;
  },
);
