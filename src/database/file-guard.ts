import { type ErrorOutcome, HoldfastError } from "../errors/index.ts";
import { fileIdentityOf } from "../io/disk.ts";
import { stampOf } from "../io/whole-files.ts";
import type { EngineSettings } from "./operation.ts";

/**
 * Notices that a database's files were removed or replaced under an open handle. Writing would go on as if
 * nothing had happened, into files that nobody can open any more: nothing may be acknowledged then (V13).
 */
export class FileGuard {
  readonly #path: string;
  readonly #identities: ReadonlyMap<string, string | undefined>;

  /**
   * @param identity - of the database when the folder was opened. The log is looked at now: make the guard inside
   *   a transaction, when it is there; it is not removed while a connection is open.
   */
  constructor(path: string, identity: string | undefined) {
    this.#path = path;
    const log = `${path}-wal`;
    this.#identities = new Map([
      [path, identity],
      [log, fileIdentityOf(log)],
    ]);
  }

  /** Raises FAILED; two calls of `stat`, some microseconds beside a synced commit. */
  assertInPlace(): void {
    for (const [file, identity] of this.#identities) {
      if (identity !== undefined && fileIdentityOf(file) === identity) continue;
      throw notInPlace(this.#path, { file, outcome: "not-applied" });
    }
  }
}

/**
 * The same for reading: what an open handle reads of a removed or replaced database is of a folder that is no more, such
 * as one that was restored meanwhile. Of a copy the original is looked at.
 */
export function assertSameDatabase({ inMemory, path, fileIdentity, copiedStamp }: EngineSettings): void {
  if (inMemory) return;
  if (copiedStamp !== undefined) {
    if (databaseStamp(path) === copiedStamp) return;
    const message = `${path} was changed since it was opened for reading; close it and open it again.`;
    throw new HoldfastError("FAILED", message, { details: { path } });
  }
  if (fileIdentityOf(path) !== fileIdentity) throw notInPlace(path, { file: path, outcome: "none" });
}

/** What a database and its log are like now, while nobody of this process has them open. */
export function databaseStamp(path: string): string {
  return `${stampOf(path)} ${stampOf(`${path}-wal`)}`;
}

/** A database that stands at its path no more: whoever still has it open reads and writes what nobody else sees. */
export function notInPlace(
  path: string,
  context: { readonly file: string; readonly outcome: ErrorOutcome; readonly cause?: unknown },
): HoldfastError {
  const { file, outcome, cause } = context;
  const message = `${path} was removed or replaced while it was open; close every handle of the folder and open it again.`;
  return new HoldfastError("FAILED", message, {
    details: { path, file },
    outcome,
    ...(cause !== undefined && { cause }),
  });
}
