import type { SqlRow } from "../database/connection.ts";
import type { Rebuild } from "./rebuild.ts";
import { putSession, type SessionIdentity, wasDeleted } from "./rebuild-tenants.ts";

/** Candidates that are tried for one session: each costs a checksum. */
const CANDIDATES_MAX = 64;

type Try<T> = (identity: Pick<SessionIdentity, "id" | "user">) => T | undefined;

/**
 * The id and the user of an event's session. They stand in one row for many events; where that row is damaged they are
 * looked for in what was written beside the vectors and in the feed, and the checksums of the events tell what is right.
 */
export class SessionFinder {
  readonly #all: Rebuild;
  readonly #store: number | undefined;
  readonly #deleted = new Map<number, boolean>();
  /** Sessions whose candidates were tried, without any that fits. */
  readonly #hopeless = new Map<number, number>();

  constructor(all: Rebuild) {
    this.#all = all;
    this.#store = all.stores.find(({ name }) => name.startsWith("memory:"))?.store;
  }

  /** Whether the event's session was being deleted: its events do not come back. */
  isDeleted({ session }: SqlRow): boolean {
    const number = Number(session);
    if (!Number.isSafeInteger(number)) return false;
    const known = this.#deleted.get(number);
    if (known !== undefined) return known;
    const rows = this.#all.staging.find("sessions", "rowid_", BigInt(number));
    const isDeleted =
      rows.some(({ ending }) => Number(ending) === 1) || (rows.length === 0 && wasDeleted(this.#all, BigInt(number)));
    this.#deleted.set(number, isDeleted);
    return isDeleted;
  }

  /** Answers what `attempt` makes of the right identity. */
  find<T>(row: SqlRow, attempt: Try<T>): T | undefined {
    const session = Number(row.session);
    if (!Number.isSafeInteger(session)) return undefined;
    const stored = this.#stored(session, Number(row.tenant));
    const found = stored && attempt(stored);
    if (found !== undefined) return found;
    // Single damaged events of a whole session are tried a few times, and not each against everything.
    const tried = this.#hopeless.get(session) ?? 0;
    if (tried > 8) return undefined;
    for (const candidate of this.#candidates(session, row)) {
      const other = attempt(candidate);
      if (other === undefined || !putSession(this.#all, { session, tenant: Number(row.tenant), ...candidate }))
        continue;
      if (stored?.id !== candidate.id || stored.user !== candidate.user)
        this.#all.ledger.notes.push(
          `The row of session ${session} was damaged; its id and user were found beside its events.`,
        );
      return other;
    }
    this.#hopeless.set(session, tried + 1);
    return undefined;
  }

  #stored(session: number, tenant: number): SessionIdentity | undefined {
    const row = this.#all.target.connection
      .prepare("SELECT id, user FROM sessions WHERE session = ? AND tenant = ?")
      .get(session, tenant);
    return row && { session, tenant, id: String(row.id), user: row.user === null ? undefined : String(row.user) };
  }

  #candidates(session: number, row: SqlRow): readonly Pick<SessionIdentity, "id" | "user">[] {
    const ids = new Set<string>();
    const users = new Set<string | undefined>([undefined]);
    const stored = this.#stored(session, Number(row.tenant));
    if (stored !== undefined) {
      ids.add(stored.id);
      users.add(stored.user);
    }
    for (const { session_id: id } of this.#all.staging.find("changes", "session", BigInt(session)).slice(0, 1))
      ids.add(String(id));
    for (const { segment } of this.#all.staging.find("segments", "event", row.event ?? null)) {
      const records =
        this.#store === undefined ? [] : this.#all.staging.find(`records_${this.#store}`, "id", String(segment));
      for (const record of records) {
        if (typeof record.p_session === "string") ids.add(record.p_session);
        if (typeof record.p_user === "string") users.add(record.p_user);
      }
    }
    const known = this.#all.target.connection
      .prepare("SELECT DISTINCT user FROM sessions WHERE tenant = ? AND user IS NOT NULL LIMIT 16")
      .all(Number(row.tenant));
    for (const { user } of known) users.add(String(user));
    return [...ids].flatMap((id) => [...users].map((user) => ({ id, user }))).slice(0, CANDIDATES_MAX);
  }
}
