import type { Connection, SqlRow } from "../database/connection.ts";
import { isDamageError } from "../database/errors.ts";
import { isHoldfastError } from "../errors/index.ts";
import type { FindingKind, Findings } from "./findings.ts";
import type { MaintenanceProgress, VerifyCounts } from "./verify-contract.ts";

/** Work that gives way at each `yield`: whoever runs it looks at the time and at its caller there. */
export type Steps = Generator<void, void>;

export interface Check {
  readonly stage: string;
  run(verification: Verification): Steps;
}

/** A table that is read from its first row to its last. */
export interface Walk {
  readonly table: string;
  /** Columns and joins of rows whose key is above a first parameter, in the order of the key, which is named `key`. */
  readonly sql: string;
  /** The key by itself, for finding the next row that can be read; `${table}` where the key is its row id. */
  readonly seek: string;
}

type Counts = { -readonly [Name in keyof VerifyCounts]: number };

export function noCounts(): Counts {
  return {
    tables: 0,
    tenants: 0,
    sessions: 0,
    events: 0,
    revisions: 0,
    segments: 0,
    words: 0,
    partitions: 0,
    records: 0,
  };
}

/** One verification under way: a read transaction, what was found, and how far it is. */
export class Verification {
  readonly connection: Connection;
  readonly findings: Findings;
  readonly deep: boolean;
  readonly counts: Counts = noCounts();
  #rows = 0;
  #progress: MaintenanceProgress = { stage: "files", stagesDone: 0, stages: 1, rows: 0 };

  constructor(connection: Connection, findings: Findings, deep: boolean) {
    this.connection = connection;
    this.findings = findings;
    this.deep = deep;
  }

  get progress(): MaintenanceProgress {
    return { ...this.#progress, rows: this.#rows };
  }

  report(kind: FindingKind, place: string, row: string | number | undefined, message: string): void {
    this.findings.add({ kind, place, ...(row !== undefined && { row: String(row) }), message });
  }

  /** Runs checks one after the other. Damage that ends one is a finding, and the others go on. */
  *run(checks: readonly Check[]): Steps {
    for (const [index, check] of checks.entries()) {
      this.#progress = { stage: check.stage, stagesDone: index, stages: checks.length, rows: 0 };
      yield;
      try {
        yield* check.run(this);
      } catch (error) {
        this.#reportEnd(check.stage, error);
      }
    }
    this.#progress = { ...this.#progress, stagesDone: checks.length };
  }

  /** Reads a table row by row. Where rows cannot be read, the range is a finding, and the walk goes on behind it. */
  *walk({ table, sql, seek }: Walk): Generator<SqlRow> {
    // Keys of a damaged tree may go back: the walk never does, and so comes to an end.
    for (let last = Number.MIN_SAFE_INTEGER, resumed = Number.NEGATIVE_INFINITY; ; ) {
      try {
        for (const row of this.connection.prepare(sql, { bigints: true }).iterate(last)) {
          last = Math.max(last, Number(row.key));
          this.#rows += 1;
          yield row;
        }
        return;
      } catch (error) {
        if (!isDamageError(error)) throw error;
        if (last === resumed) last += 1;
        const next = this.#nextReadable(seek, sql, last);
        const from = last === Number.MIN_SAFE_INTEGER ? "the first row" : String(last);
        const range = next === undefined ? `behind ${from}` : `${from} to ${next} (both can be read)`;
        const message = `Rows of ${table} cannot be read: SQLite says the database is malformed.`;
        this.report("unreadable", table, range, message);
        if (next === undefined) return;
        last = Math.max(last, next - 1);
        resumed = last;
      }
    }
  }

  /** Looks up what belongs to one row; what cannot be read is a finding, and `undefined`. */
  attempt<T>(table: string, row: string | number, look: () => T): T | undefined {
    try {
      return look();
    } catch (error) {
      if (!isDamageError(error)) throw error;
      this.report(
        "unreadable",
        table,
        row,
        `What belongs to this row of ${table} cannot be read: SQLite says the database is malformed.`,
      );
      return undefined;
    }
  }

  /** Looks up what another check reads and reports: `undefined` also where it cannot be read. */
  lookAt<T>(look: () => T): T | undefined {
    try {
      return look();
    } catch (error) {
      if (!isDamageError(error)) throw error;
      return undefined;
    }
  }

  /** The first key above `after` whose row and whatever belongs to it can be read, as far as it can be told by trying. */
  #nextReadable(seek: string, sql: string, after: number): number | undefined {
    const attempt = (from: number): number | "damaged" | undefined => {
      try {
        const key = this.connection.prepare(seek).get(from)?.key;
        if (key === undefined || key === null) return undefined;
        // The row itself may be on a page that the key is not on.
        this.connection.prepare(sql, { bigints: true }).get(Number(key) - 1);
        return Number(key);
      } catch (error) {
        if (isDamageError(error)) return "damaged";
        throw error;
      }
    };
    let low = Math.max(after, 0) + 1;
    for (let stride = 1; ; stride *= 2) {
      const high = low + stride;
      if (!Number.isSafeInteger(high)) return undefined;
      const found = attempt(high);
      if (found === undefined) return lastBetween(low, high, attempt);
      if (found !== "damaged") return lastBetween(low, high, attempt) ?? found;
      low = high;
    }
  }

  #reportEnd(stage: string, error: unknown): void {
    if (isDamageError(error)) {
      this.report(
        "page",
        stage,
        undefined,
        `The check of ${stage} could not go on: SQLite says the database is malformed.`,
      );
      return;
    }
    if (isHoldfastError(error) && error.group === "abort") throw error;
    const reason = error instanceof Error ? error.message : String(error);
    this.report("unchecked", stage, undefined, `The check of ${stage} could not be finished: ${reason}`);
  }
}

/** The least key in `(low, high]` from which on can be read; what is damaged lies before it. */
function lastBetween(
  low: number,
  high: number,
  attempt: (from: number) => number | "damaged" | undefined,
): number | undefined {
  let [from, to] = [low, high];
  while (from + 1 < to) {
    const middle = Math.floor((from + to) / 2);
    if (attempt(middle) === "damaged") from = middle;
    else to = middle;
  }
  const found = attempt(to);
  return found === "damaged" ? undefined : found;
}
