import { HoldfastError } from "../errors/index.ts";
import type { Cancellation } from "../io/cancellation.ts";
import { type Clock, pauseThread } from "../io/clock.ts";
import { type Connection, rollback } from "./connection.ts";
import { handleFailed, toDatabaseError } from "./errors.ts";
import { FileGuard } from "./file-guard.ts";
import { assertFormat, rewriteHeader } from "./format.ts";
import { jitterMs, retryWhileLocked, withoutStackTrace } from "./lock-wait.ts";
import type { DatabasePlan, EngineSettings, WriteOperation, WriteUnit } from "./operation.ts";
import { Resources } from "./resources.ts";

export interface WriteJob {
  readonly name: string;
  readonly input: unknown;
  readonly cancellation: Cancellation;
}

export type JobResult = { readonly value: unknown } | { readonly error: HoldfastError };

/** Jobs that share one commit at most: bounds how long the first waits for the last. */
export const JOBS_PER_COMMIT_MAX = 256;

/** Owns the only write connection of a folder. Jobs that wait at the same time share one commit (E7). */
export class Writer {
  readonly #connection: Connection;
  readonly #plan: DatabasePlan;
  readonly #settings: EngineSettings;
  readonly #clock: Clock;
  readonly #resources: Resources;
  #guard: FileGuard | undefined;
  #failure: HoldfastError | undefined;

  constructor(connection: Connection, plan: DatabasePlan, settings: EngineSettings, clock: Clock) {
    this.#connection = connection;
    this.#plan = plan;
    this.#settings = settings;
    this.#clock = clock;
    this.#resources = new Resources(settings);
  }

  /** Runs each job in one transaction, several in savepoints of it: one that fails leaves nothing and does not stop the others. */
  commit(jobs: readonly WriteJob[]): readonly JobResult[] {
    // Those that waited behind a commit that failed: they are not written, as the handle of the folder says (E10).
    if (this.#failure !== undefined) return jobs.map(() => ({ error: handleFailed(this.#failure) }));
    let waited: boolean;
    try {
      waited = this.#begin(jobs);
    } catch (error) {
      return jobs.map(() => ({ error: this.#toError(error, "not-applied") }));
    }
    let results: readonly JobResult[];
    try {
      assertFormat(this.#connection, this.#settings.path, this.#plan.formats);
      this.#assertInPlace();
      results = this.#runAll(jobs);
    } catch (error) {
      rollback(this.#connection);
      return jobs.map(() => ({ error: this.#toError(error, "not-applied") }));
    }
    if (results.every((result) => "error" in result)) {
      rollback(this.#connection);
      return results;
    }
    const failure = this.#commit();
    if (waited) pauseThread(jitterMs());
    return failure === undefined ? results : jobs.map(() => ({ error: failure }));
  }

  close(): void {
    this.#resources.close();
    this.#connection.close();
  }

  /** From the first transaction on, in which the log is there. */
  #assertInPlace(): void {
    const { inMemory, path, fileIdentity } = this.#settings;
    if (inMemory) return;
    this.#guard ??= new FileGuard(path, fileIdentity);
    this.#guard.assertInPlace();
  }

  #begin(jobs: readonly WriteJob[]): boolean {
    const bound = { clock: this.#clock, lockTimeoutMs: this.#settings.lockTimeoutMs };
    const begin = (): void => this.#connection.exec("BEGIN IMMEDIATE");
    return retryWhileLocked(bound, allOf(jobs), () => withoutStackTrace(begin));
  }

  #runAll(jobs: readonly WriteJob[]): readonly JobResult[] {
    const nowMicros = this.#clock.nowMicros();
    if (jobs.length > 1) return jobs.map((job) => this.#runBeside(job, nowMicros));
    // A job that has the transaction to itself needs no savepoint: when it fails, all of it is rolled back.
    return jobs.map((job) => {
      try {
        return { value: this.#run(job, nowMicros) };
      } catch (error) {
        return { error: this.#toError(error, "not-applied") };
      }
    });
  }

  #runBeside(job: WriteJob, nowMicros: number): JobResult {
    this.#connection.exec("SAVEPOINT job");
    try {
      const value = this.#run(job, nowMicros);
      this.#connection.exec("RELEASE job");
      return { value };
    } catch (error) {
      if (!this.#undoJob()) throw error;
      return { error: this.#toError(error, "not-applied") };
    }
  }

  /** False when SQLite has ended the whole transaction by itself, as on a full disk: then every job fails with that error. */
  #undoJob(): boolean {
    try {
      this.#connection.exec("ROLLBACK TO job; RELEASE job");
      return true;
    } catch {
      return false;
    }
  }

  #run(job: WriteJob, nowMicros: number): unknown {
    job.cancellation.assertLive();
    const operation = this.#plan.operations.get(job.name);
    if (operation?.kind !== "write") throw new HoldfastError("BUG", `No write operation is named ${job.name}.`);
    const unit: WriteUnit = {
      connection: this.#connection,
      cancellation: job.cancellation,
      nowMicros,
      resource: (factory) => this.#resources.get(factory),
    };
    return (operation as WriteOperation<unknown, unknown>).run(unit, job.input);
  }

  /** A failed commit or sync may be there after a restart: its outcome is unknown and the handle fails (E10). */
  #commit(): HoldfastError | undefined {
    try {
      this.#connection.exec("COMMIT");
      return undefined;
    } catch (cause) {
      rollback(this.#connection);
      const { code, message, details } = toDatabaseError(cause, { path: this.#settings.path, outcome: "unknown" });
      this.#failure = commitFailed({ code, message, details, cause });
      this.#writeOver();
      return this.#failure;
    }
  }

  /**
   * The log's file may hold the whole commit that failed, which nobody sees until a crash: then the next process would
   * find it, after others were told that it is not there. A commit that changes nothing is written over it.
   */
  #writeOver(): void {
    try {
      this.#connection.exec("BEGIN IMMEDIATE");
      rewriteHeader(this.#connection);
      this.#connection.exec("COMMIT");
    } catch {
      // Then the outcome stays unknown until somebody writes.
      rollback(this.#connection);
    }
  }

  #toError(error: unknown, outcome: "not-applied"): HoldfastError {
    const ours = toDatabaseError(error, { path: this.#settings.path, outcome });
    if (ours.outcome !== "none") return ours;
    const { code, message, details, cause, retry } = ours;
    return new HoldfastError(code, message, { details, retry, outcome, ...(cause !== undefined && { cause }) });
  }
}

function commitFailed(failure: Pick<HoldfastError, "code" | "message" | "details" | "cause">): HoldfastError {
  const { code, message, details, cause } = failure;
  return new HoldfastError(
    "FAILED",
    `A commit failed: close the handle and open the folder again to learn whether it is there, and repeat it by the same ids. ${message}`,
    { cause, outcome: "unknown", details: { ...details, reason: code } },
  );
}

/** Ends the wait for the lock only when none of the jobs is wanted any more. */
function allOf(jobs: readonly WriteJob[]): Cancellation {
  return {
    assertLive() {
      let last: unknown;
      for (const job of jobs) {
        try {
          job.cancellation.assertLive();
          return;
        } catch (error) {
          last = error;
        }
      }
      throw last;
    },
  };
}
