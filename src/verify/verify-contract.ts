import type { CallOptions } from "../contract/store.ts";
import type { Finding, FindingKind } from "./findings.ts";

/** How far a verification or repair is. */
export interface MaintenanceProgress {
  /** What is being looked at, such as `events`. */
  readonly stage: string;
  readonly stagesDone: number;
  readonly stages: number;
  /** Rows that were read so far. */
  readonly rows: number;
}

export interface VerifyOptions extends CallOptions {
  /**
   * Also searches for each vector and expects it to be its own nearest neighbour, and reads the file's free pages. Takes
   * time quadratic in the records of a partition. Default false.
   */
  readonly deep?: boolean;
  /** How many findings are listed, 1 to 100,000; default 1,000. All are counted. */
  readonly maxFindings?: number;
  /** Bytes that a deep verification holds in memory, at least 1 MiB; default 256 MiB. */
  readonly memoryBudgetBytes?: number;
  /** `workers` (default) keeps the calling thread free; `inline` works on it, in slices. */
  readonly threads?: "workers" | "inline";
  /** Called some times a second. */
  readonly onProgress?: (progress: MaintenanceProgress) => void;
}

/** Rows that were read and held against each other. */
export interface VerifyCounts {
  readonly tables: number;
  readonly tenants: number;
  readonly sessions: number;
  readonly events: number;
  readonly revisions: number;
  readonly segments: number;
  /** Occurrences of words in the text index. */
  readonly words: number;
  readonly partitions: number;
  readonly records: number;
}

export interface VerifyReport {
  /** Whether nothing is damaged. Findings that are only worth knowing leave it true. */
  readonly ok: boolean;
  /** The database file. */
  readonly path: string;
  readonly findings: readonly Finding[];
  /** How many findings there are of each kind, also of those beyond `maxFindings`. */
  readonly totals: Readonly<Partial<Record<FindingKind, number>>>;
  readonly counts: VerifyCounts;
  readonly deep: boolean;
}
