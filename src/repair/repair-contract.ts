import type { CallOptions } from "../contract/store.ts";
import type { MaintenanceProgress, VerifyReport } from "../verify/verify-contract.ts";

export interface RepairOptions extends CallOptions {
  /** Says what a repair would bring back and set aside, and changes nothing. Default false. */
  readonly dryRun?: boolean;
  /** Repairs also what `verify` finds whole. Default false. */
  readonly force?: boolean;
  /** `workers` (default) keeps the calling thread free; `inline` works on it, in slices. */
  readonly threads?: "workers" | "inline";
  /** Called some times a second. */
  readonly onProgress?: (progress: MaintenanceProgress) => void;
}

/** What became of the rows of one table. */
export interface RepairedTable {
  readonly table: string;
  /** Rows that could be read from the damaged file. */
  readonly read: number;
  /** Rows that are in the repaired one. Of derived tables, rows that were made anew. */
  readonly kept: number;
  /** Rows that were damaged, or belonged to nothing: listed with their reasons. What is made anew counts as no such row. */
  readonly setAside: number;
  /** Rows that an index still names and whose page is damaged: listed by their keys. */
  readonly lost: number;
}

export interface RepairReport {
  /** Whether everything that was there is there: `false` when rows were set aside or lost, whatever else went well. */
  readonly complete: boolean;
  /** What was done: nothing was damaged, only looked at, or a repaired database is in place, proven by a verification. */
  readonly outcome: "whole" | "dry-run" | "repaired";
  /** The database file. */
  readonly path: string;
  /** The folder that keeps the damaged database and `rows.jsonl`, in which each row that is missing stands with its reason. */
  readonly keptIn?: string;
  readonly tables: readonly RepairedTable[];
  /** Ids that had to be made up, segments that are embedded again, and other things worth knowing. */
  readonly notes: readonly string[];
  readonly before: VerifyReport;
  /** Of what a repair made, before it took its place. */
  readonly after?: VerifyReport;
}
