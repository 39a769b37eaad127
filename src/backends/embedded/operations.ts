import type { Operation } from "../../database/operation.ts";
import {
  assertLife,
  createPartitionRow,
  deletePartitionRow,
  findPartitionRow,
  listPartitionRows,
  openStoreRow,
  readStoreRow,
} from "./lifecycle.ts";
import { queryRecords, scoreRecords } from "./queries.ts";
import { countRecords, getRecords, scanRecords } from "./reads.ts";
import { reclaimLife, reclaimStep } from "./reclaim.ts";
import { deleteRecords, patchRecord, upsertRecords } from "./writes.ts";

/** Every operation of the embedded store, for the plan of a folder's threads. */
export const EMBEDDED_OPERATIONS: readonly Operation[] = [
  openStoreRow,
  readStoreRow,
  createPartitionRow,
  findPartitionRow,
  deletePartitionRow,
  listPartitionRows,
  assertLife,
  upsertRecords,
  patchRecord,
  deleteRecords,
  reclaimStep,
  reclaimLife,
  getRecords,
  countRecords,
  scanRecords,
  queryRecords,
  scoreRecords,
];
