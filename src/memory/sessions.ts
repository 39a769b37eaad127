import type { Connection, SqlRow } from "../database/connection.ts";
import {
  type ReadOperation,
  readOperation,
  type WriteOperation,
  type WriteUnit,
  writeOperation,
} from "../database/operation.ts";
import { HoldfastError } from "../errors/index.ts";
import { mintId } from "../io/ids.ts";
import { findReceipt, type KeyedCall, keepReceipt, once } from "../registry/receipts.ts";
import type { EventOwner } from "../segments/sqlite/events.ts";
import { noteChanges } from "./changes.ts";
import { receiptOwner } from "./receipt-owners.ts";
import { requireTenant, type TenantLife } from "./tenants.ts";

/** One life of a session. */
export interface SessionLife {
  readonly tenant: TenantLife;
  readonly session: number;
  readonly id: string;
  readonly user: string | undefined;
  readonly incarnation: string;
}

export interface SessionRow {
  readonly id: string;
  readonly user: string | undefined;
  readonly events: number;
  /** Microseconds since 1970, of the oldest and the newest event. */
  readonly firstAt: bigint | undefined;
  readonly lastAt: bigint | undefined;
}

export interface SessionInput {
  readonly tenant: TenantLife;
  readonly id: string;
}

export interface EndSessionInput extends SessionInput {
  readonly keyed: KeyedCall | undefined;
}

export interface CreateSessionInput extends EndSessionInput {
  readonly user: string | undefined;
}

export type CreateSessionOutput =
  | { readonly life: SessionLife; readonly created: boolean }
  /** The number of the session that is being deleted under this id: finish that first. */
  | { readonly ending: number };

/** Equal settings answer the session that stands; different ones are refused (S1). */
export const createSessionRow: WriteOperation<CreateSessionInput, CreateSessionOutput> = writeOperation(
  "memory.create-session",
  (unit, input) => {
    const { tenant, keyed } = input;
    requireTenant(unit.connection, tenant);
    const owner = receiptOwner({ tenant });
    const found = keyed && findReceipt(unit.connection, owner, keyed);
    if (found !== undefined) return found.answer as CreateSessionOutput;
    const answer = create(unit, input);
    if (keyed !== undefined && "life" in answer) keepReceipt(unit.connection, owner, keyed, { answer });
    return answer;
  },
);

/** What asking for a session that is not there raises (S1). */
export function unknownSession(id: string): HoldfastError {
  const message = `There is no session ${JSON.stringify(id)}; create it first, or list the sessions to see which there are.`;
  return new HoldfastError("NOT_FOUND", message, { details: { session: id } });
}

function create(unit: WriteUnit, { tenant, id, user }: CreateSessionInput): CreateSessionOutput {
  const insert = unit.connection.prepare(
    "INSERT INTO sessions (tenant, id, user, incarnation, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (tenant, id) DO NOTHING",
  );
  const { changes } = insert.run(tenant.tenant, id, user ?? null, mintId(), unit.nowMicros);
  const life = findSession(unit.connection, tenant, id);
  if (life === undefined) return { ending: endingSession(unit.connection, tenant, id) };
  if (life.user !== user) {
    const message = `The session ${JSON.stringify(id)} exists with another user; open it with session(id), or choose another id.`;
    throw new HoldfastError("ALREADY_EXISTS", message, { details: { session: id } });
  }
  if (changes === 1)
    noteChanges(unit, tenant.tenant, [{ kind: "session-created", session: life.session, sessionId: id }]);
  return { life, created: changes === 1 };
}

export const findSessionRow: ReadOperation<SessionInput, SessionLife | undefined> = readOperation(
  "memory.find-session",
  (view, { tenant, id }) => {
    requireTenant(view.connection, tenant);
    return findSession(view.connection, tenant, id);
  },
);

/**
 * Ends a session's life: from now on nobody finds it, and its events are removed in steps. Answers its number, also
 * when an earlier deletion did not finish, or `undefined` when there is none.
 */
export const endSession: WriteOperation<EndSessionInput, number | undefined> = writeOperation(
  "memory.end-session",
  (unit, input) => {
    requireTenant(unit.connection, input.tenant);
    return once(unit, receiptOwner(input), input.keyed, () => end(unit, input));
  },
);

function end(unit: WriteUnit, { tenant, id }: SessionInput): number | undefined {
  const { connection } = unit;
  const row = connection
    .prepare("SELECT session, ending FROM sessions WHERE tenant = ? AND id = ?")
    .get(tenant.tenant, id);
  if (row === undefined) return undefined;
  const session = Number(row.session);
  if (row.ending === 1) return session;
  connection.prepare("UPDATE sessions SET ending = 1, incarnation = ? WHERE session = ?").run(mintId(), session);
  noteChanges(unit, tenant.tenant, [{ kind: "session-deleted", session, sessionId: id }]);
  return session;
}

/** Raises STALE when the session's life has ended. */
export const requireLiveSession: ReadOperation<SessionLife, null> = readOperation(
  "memory.require-session",
  (view, life) => {
    requireSession(view.connection, life);
    return null;
  },
);

export interface ListSessionsInput {
  readonly tenant: TenantLife;
  readonly user: string | undefined;
  readonly after: string;
  readonly limit: number;
}

/** One page of sessions by id, behind `after`. */
export const listSessionRows: ReadOperation<ListSessionsInput, readonly SessionRow[]> = readOperation(
  "memory.list-sessions",
  (view, input) => {
    requireTenant(view.connection, input.tenant);
    const select = view.connection.prepare(
      `SELECT n.id, n.user, count(e.event) AS events, min(e.at) AS first_at, max(e.at) AS last_at
     FROM (SELECT * FROM sessions WHERE tenant = ? AND ending = 0 AND id > ? AND (? IS NULL OR user = ?) ORDER BY id LIMIT ?) AS n
     LEFT JOIN events AS e ON e.session = n.session GROUP BY n.session ORDER BY n.id`,
      { bigints: true },
    );
    const user = input.user ?? null;
    return select.all(input.tenant.tenant, input.after, user, user, input.limit).map(toSessionRow);
  },
);

function toSessionRow(row: SqlRow): SessionRow {
  return {
    id: String(row.id),
    user: row.user === null ? undefined : String(row.user),
    events: Number(row.events),
    firstAt: row.first_at === null ? undefined : BigInt(row.first_at as bigint),
    lastAt: row.last_at === null ? undefined : BigInt(row.last_at as bigint),
  };
}

/** Who owns the events of a session. */
export function ownerOf({ tenant, session, id, user }: SessionLife): EventOwner {
  return { tenant: tenant.tenant, session, sessionId: id, user };
}

function findSession(connection: Connection, tenant: TenantLife, id: string): SessionLife | undefined {
  const row = connection
    .prepare("SELECT session, user, incarnation FROM sessions WHERE tenant = ? AND id = ? AND ending = 0")
    .get(tenant.tenant, id);
  if (row === undefined) return undefined;
  const user = row.user === null ? undefined : String(row.user);
  return { tenant, session: Number(row.session), id, user, incarnation: String(row.incarnation) };
}

function endingSession(connection: Connection, tenant: TenantLife, id: string): number {
  const row = connection.prepare("SELECT session FROM sessions WHERE tenant = ? AND id = ?").get(tenant.tenant, id);
  if (row === undefined) throw new HoldfastError("BUG", "A session was not there after its creation.");
  return Number(row.session);
}

/** Ids of the tenant's sessions that are being deleted: no read answers anything of them. */
export function endingSessions(connection: Connection, tenant: TenantLife): readonly string[] {
  const select = connection.prepare("SELECT id FROM sessions WHERE tenant = ? AND ending = 1");
  return select.all(tenant.tenant).map(({ id }) => String(id));
}

/** Raises STALE when the session's life, or its tenant's, has ended (S11). */
export function requireSession(connection: Connection, life: SessionLife): void {
  requireTenant(connection, life.tenant);
  const row = connection
    .prepare("SELECT 1 AS found FROM sessions WHERE session = ? AND incarnation = ? AND ending = 0")
    .get(life.session, life.incarnation);
  if (row === undefined) throw new HoldfastError("STALE", "The session of this handle was deleted; ask for it anew.");
}
