import { type ReadOperation, readOperation, type WriteOperation, writeOperation } from "../database/operation.ts";
import { currentSpace } from "../embedding/spaces.ts";
import { isProcessGone } from "../io/processes.ts";
import { PAUSE_MS_MAX } from "./backoff.ts";

/**
 * Who embeds what is pending: one at a time for the whole folder, so that no text is paid for twice. After failures of
 * the service nobody tries before `resume_at`.
 */
export const EMBEDDING_LEASE_SCHEMA = `
CREATE TABLE embedding_lease (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  holder TEXT,
  process TEXT,
  until INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  resume_at INTEGER NOT NULL
) STRICT;
INSERT INTO embedding_lease (one, until, failures, resume_at) VALUES (1, 0, 0, 0);`;

/** Longer than any window takes: a holder that is silent for so long is gone. */
export const LEASE_MS = 90_000;

export interface LeaseHolder {
  readonly holder: string;
  /** As `ownProcess` names it: the lease of a process that ended is free at once. */
  readonly process: string;
}

export type LeaseAnswer =
  | { readonly granted: true; readonly failures: number }
  | { readonly granted: false /** Microseconds since 1970. */; readonly until: number };

export const claimLease: WriteOperation<LeaseHolder, LeaseAnswer> = writeOperation(
  "memory.claim-embedding",
  ({ connection, nowMicros }, { holder, process }) => {
    const row = connection.prepare("SELECT holder, process, until, failures FROM embedding_lease").get();
    const until = Number(row?.until ?? 0);
    // One that ends further ahead than a lease lasts is of before the clock was set back.
    const hasEnded = until <= nowMicros || until > nowMicros + LEASE_MS * 1_000;
    const isFree = row?.holder === null || hasEnded || row?.holder === holder;
    if (!isFree && !isProcessGone(String(row?.process))) return { granted: false, until };
    connection
      .prepare("UPDATE embedding_lease SET holder = ?, process = ?, until = ?")
      .run(holder, process, nowMicros + LEASE_MS * 1_000);
    return { granted: true, failures: Number(row?.failures ?? 0) };
  },
);

export interface ReleaseInput {
  readonly holder: string;
  /** In a row, of the service. */
  readonly failures: number;
  readonly resumeInMs: number;
}

export const releaseLease: WriteOperation<ReleaseInput, null> = writeOperation(
  "memory.release-embedding",
  ({ connection, nowMicros }, { holder, failures, resumeInMs }) => {
    connection
      .prepare(
        "UPDATE embedding_lease SET holder = NULL, process = NULL, until = 0, failures = ?, resume_at = ? WHERE holder = ?",
      )
      .run(failures, nowMicros + resumeInMs * 1_000, holder);
    return null;
  },
);

/** A time that lies further ahead than any pause was noted before the clock was set back: it has come. */
export function pauseEnd(at: number, nowMicros: number): number {
  return at > nowMicros + PAUSE_MS_MAX * 1_000 ? nowMicros : at;
}

/**
 * When the next pending segment is due, in microseconds since 1970; `undefined` when none waits, or when another model's
 * embedder is given: it has nothing to add to this space.
 */
export const nextEmbeddingAt: ReadOperation<
  { readonly identity: string; readonly nowMicros: number },
  number | undefined
> = readOperation("memory.next-embedding-at", ({ connection }, { identity, nowMicros }) => {
  const space = currentSpace(connection);
  if (space !== undefined && space.identity !== identity) return undefined;
  // What an ended tenant left is nobody's to embed, nor what is still being taken in.
  const due = connection
    .prepare(
      "SELECT p.next_at AS at FROM pending_vectors AS p JOIN tenants AS t ON t.tenant = p.tenant WHERE p.state = 'waiting' AND t.import IS NULL ORDER BY p.next_at LIMIT 1",
    )
    .get()?.at;
  if (due === undefined) return undefined;
  const resumeAt = Number(connection.prepare("SELECT resume_at FROM embedding_lease").get()?.resume_at ?? 0);
  return Math.max(pauseEnd(Number(due), nowMicros), pauseEnd(resumeAt, nowMicros));
});
