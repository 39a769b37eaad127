import type { CallOptions } from "../contract/store.ts";
import type { MemoryEvent } from "./event-contract.ts";

/** What happened to an event or a session. */
export interface Change {
  /** Resumes behind this change. */
  readonly cursor: string;
  readonly kind: "written" | "changed" | "forgotten" | "session-created" | "session-deleted";
  readonly session: string;
  /** Absent for what happened to a whole session. */
  readonly event?: string;
  /** The revision that was written. */
  readonly revision?: number;
  /** When it was committed: `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
  readonly at: string;
}

export interface ChangesOptions extends CallOptions {
  /** A `cursor` of an earlier answer; from the oldest change that is kept when absent. */
  readonly after?: string;
  /** Changes at most, 1…10,000; default 100. */
  readonly limit?: number;
}

export interface ChangesPage {
  /** In the order of their commits, each once. */
  readonly changes: readonly Change[];
  /** Give it as `after` for what comes next; it is answered also when nothing came. */
  readonly cursor: string;
  /** The newest change that there is: the reader is up to date when it has reached it. */
  readonly highWater: string;
  /** Whether more is there already. */
  readonly more: boolean;
}

export interface RecentOptions extends CallOptions {
  /** Events at most, 1…1,000; default 20. */
  readonly maxEvents?: number;
  /** UTF-16 units of their texts at most; unbounded when absent. */
  readonly maxCharacters?: number;
}

export interface RecentEvent extends MemoryEvent {
  /** The newest event alone is over `maxCharacters`: its text is cut, between two graphemes. */
  readonly truncated?: true;
}

export interface RecentAnswer {
  /** The newest events, oldest first. */
  readonly events: readonly RecentEvent[];
  /** What was said before, where a summary is kept. */
  readonly summary?: SessionSummary;
  /** Events left out because their checksum did not hold. */
  readonly damaged: number;
}

/** A rolling summary of a session's older events. */
export interface SessionSummary {
  readonly text: string;
  /** The first and the last event that it covers, by time. */
  readonly from: { readonly event: string; readonly at: string };
  readonly to: { readonly event: string; readonly at: string };
  /** How many it covers. */
  readonly events: number;
  readonly updatedAt: string;
}

/** What `summarise` is given. */
export interface SummariseInput {
  readonly session: string;
  readonly user?: string;
  /** The summary so far, which the new one takes the place of. */
  readonly previous?: string;
  /** What it does not cover yet, in the order of time. */
  readonly events: readonly MemoryEvent[];
  readonly signal: AbortSignal;
}

/** Makes a summary of the summary so far and the events behind it; typically asks a language model. */
export type Summarise = (input: SummariseInput) => Promise<string> | string;

export interface UpdateSummaryOptions extends CallOptions {
  /** The newest events stay out of the summary, 0…1,000; default 20. */
  readonly keepEvents?: number;
  /** Events that one call of the hook is given, 1…1,000; default 50. */
  readonly maxEventsPerCall?: number;
  readonly onProgress?: (progress: { readonly covered: number }) => void;
}

/** A session's log: what was said last, and what is kept of what was said before. */
export interface SessionLog {
  /** The same in every process and after a restart (S13). */
  recent(options?: RecentOptions): Promise<RecentAnswer>;
  /** `undefined` where there is none, also after an event that it covers was changed, forgotten or added. */
  summary(options?: CallOptions): Promise<SessionSummary | undefined>;
  /**
   * Calls the memory's `summarise` for what the summary does not cover yet, committing after each call.
   *
   * @throws HOOK_FAILED with the hook's own error as its cause; what was committed before stays
   */
  updateSummary(options?: UpdateSummaryOptions): Promise<SessionSummary | undefined>;
}
