import type { CallOptions } from "../contract/store.ts";

/** A segment of an event that has no vector yet. */
export interface PendingEmbedding {
  readonly event: string;
  readonly session: string;
  /** `waiting` is tried again by itself; `parked` failed for what it says while others were embedded. */
  readonly state: "waiting" | "parked";
  readonly attempts: number;
  /** Code of the last failure. */
  readonly reason: string;
  /** When it is tried again at the earliest: `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
  readonly nextAt: string;
}

export interface PendingOptions extends CallOptions {
  readonly state?: "waiting" | "parked";
  /** Segments at most, 1…10,000; default 100. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly after?: string;
}

export interface PendingPage {
  readonly segments: readonly PendingEmbedding[];
  readonly next?: string;
}

/** Counts of segments so far. */
export interface EmbedPendingProgress {
  readonly embedded: number;
  /** Tried and waiting again. */
  readonly failed: number;
  readonly parked: number;
}

export interface EmbedPendingOptions extends CallOptions {
  readonly onProgress?: (progress: EmbedPendingProgress) => void;
}
