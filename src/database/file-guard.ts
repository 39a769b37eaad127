import { HoldfastError } from "../errors/index.ts";
import { fileIdentityOf } from "../io/disk.ts";

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
      const message = `${this.#path} was removed or replaced while it was open; close every handle of the folder and open it again.`;
      throw new HoldfastError("FAILED", message, { details: { path: this.#path, file }, outcome: "not-applied" });
    }
  }
}
