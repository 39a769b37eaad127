import type { CallOptions } from "../contract/store.ts";

export interface EmbedPendingProgress {
  /** Segments that got their vectors by this call so far. */
  readonly embedded: number;
  /** Segments of the tenant or session that had none when the call began. */
  readonly total: number;
}

export interface EmbedPendingOptions extends CallOptions {
  /** Tries parked segments too; default `false`. */
  readonly includeParked?: boolean;
  /** Called behind each commit. */
  readonly onProgress?: (progress: EmbedPendingProgress) => void;
}

export interface EmbedPendingAnswer {
  /** Segments that got their vectors. */
  readonly embedded: number;
  /** Segments that still have none and are tried again by themselves. */
  readonly waiting: number;
  /** Segments that still have none and are tried again by `embedPending({ includeParked: true })` alone. */
  readonly parked: number;
  /** Why the embedder's service could not go on; absent when every segment was tried. Holds no text and no secret. */
  readonly reason?: string;
}

export interface PendingEmbedding {
  /** The event's id. */
  readonly event: string;
  readonly session: string;
  /** The segment: where it stands in the event's text, in UTF-16 units. */
  readonly range: { readonly start: number; readonly end: number };
  /** `waiting` is tried again by itself; `parked` failed by itself too often and is tried by `embedPending({ includeParked: true })`. */
  readonly state: "waiting" | "parked";
  /** Attempts that failed because of the text itself. */
  readonly attempts: number;
  /** Why: codes and status numbers, for example `EMBEDDING_FAILED, status 429`. */
  readonly reason: string;
  /** When a waiting one is tried again at the earliest: `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
  readonly nextAt?: string;
}

export interface PendingOptions extends CallOptions {
  readonly state?: "waiting" | "parked";
  /** `next` of an earlier page. */
  readonly after?: string;
  /** Default 100, at most 10,000. */
  readonly limit?: number;
}

export interface PendingPage {
  readonly segments: readonly PendingEmbedding[];
  /** Gives the next page as `after`; absent on the last one. */
  readonly next?: string;
}

/** What a tenant or a session says and does about its segments that the embedder failed on (S7). */
export interface PendingCalls {
  /** Segments without vectors, in the order in which they were written, in pages. */
  pendingEmbeddings(options?: PendingOptions): Promise<PendingPage>;
  /**
   * Embeds what is pending now, without waiting for the retries in the background; one process of a folder at a time.
   *
   * @throws EMBEDDING_SPACE_MISMATCH, STALE, ABORTED, TIMEOUT; a failure of the embedder is told in the answer
   */
  embedPending(options?: EmbedPendingOptions): Promise<EmbedPendingAnswer>;
}
