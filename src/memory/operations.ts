import type { Operation } from "../database/operation.ts";
import { compactWords, forgetEvents, knownEvents } from "./forget.ts";
import { recallSegments } from "./recall.ts";
import { rememberEvents } from "./remember.ts";
import {
  createSessionRow,
  ensureTenantRow,
  findSessionRow,
  findTenantRow,
  listSessionRows,
  requireLiveSession,
} from "./sessions.ts";
import { memoryStats } from "./stats.ts";
import { isTextIndexCurrent, renewTextIndex } from "./text-index-version.ts";

/** Every operation of the memory, for the plan of a folder's threads. */
export const MEMORY_OPERATIONS: readonly Operation[] = [
  ensureTenantRow,
  findTenantRow,
  createSessionRow,
  findSessionRow,
  requireLiveSession,
  listSessionRows,
  knownEvents,
  rememberEvents,
  recallSegments,
  forgetEvents,
  compactWords,
  memoryStats,
  isTextIndexCurrent,
  renewTextIndex,
];
