import type { Operation } from "../database/operation.ts";
import { readArchivePage } from "./archive-page.ts";
import { readChanges } from "./change-feed.ts";
import { fillDeclared, hasUnfilled } from "./declared-fill.ts";
import { declareKeys, hasUndeclared } from "./declared-keys.ts";
import { claimLease, nextEmbeddingAt, releaseLease } from "./embedding-lease.ts";
import { countEventRows, listEventRows, readEventRow, readHistory } from "./event-rows.ts";
import { readFolderStats } from "./folder-stats.ts";
import { compactWords, countForgettable, countKnown, forgetStep } from "./forget.ts";
import { beginImport, discardImport, wasImported } from "./imports.ts";
import { settlePending } from "./pending-commit.ts";
import { countPendingRows, listPendingRows, readPendingWindow } from "./pending-rows.ts";
import { publishImport, requireTakeable } from "./publish-import.ts";
import { recallSegments } from "./recall.ts";
import { hasReclaimable, reclaimEndedTenant, reclaimEndingSession, reclaimMemory } from "./reclaim.ts";
import { knownEvents, rememberEvents } from "./remember.ts";
import { createSessionRow, endSession, findSessionRow, listSessionRows, requireLiveSession } from "./sessions.ts";
import { stageRecords } from "./stage-archive.ts";
import { memoryStats } from "./stats.ts";
import { commitSummary, readRecent, readSummary, readSummaryWork } from "./summaries.ts";
import { createTenantRow, endTenant, findTenantRow, listTenantRows } from "./tenants.ts";
import { isTextIndexCurrent, renewTextIndex } from "./text-index-version.ts";
import { readUpdateReceipt, updateEventRow } from "./update.ts";

/** Every operation of the memory, for the plan of a folder's threads. */
export const MEMORY_OPERATIONS: readonly Operation[] = [
  createTenantRow,
  findTenantRow,
  listTenantRows,
  endTenant,
  createSessionRow,
  findSessionRow,
  requireLiveSession,
  listSessionRows,
  endSession,
  knownEvents,
  rememberEvents,
  updateEventRow,
  readUpdateReceipt,
  readEventRow,
  readHistory,
  listEventRows,
  countEventRows,
  claimLease,
  releaseLease,
  nextEmbeddingAt,
  readPendingWindow,
  listPendingRows,
  countPendingRows,
  settlePending,
  recallSegments,
  readChanges,
  readRecent,
  readSummary,
  readSummaryWork,
  commitSummary,
  forgetStep,
  countForgettable,
  countKnown,
  compactWords,
  hasReclaimable,
  reclaimMemory,
  reclaimEndedTenant,
  reclaimEndingSession,
  memoryStats,
  readFolderStats,
  hasUndeclared,
  declareKeys,
  hasUnfilled,
  fillDeclared,
  readArchivePage,
  requireTakeable,
  wasImported,
  beginImport,
  stageRecords,
  publishImport,
  discardImport,
  isTextIndexCurrent,
  renewTextIndex,
];
