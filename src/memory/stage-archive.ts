import type { ArchivedSession, ArchivedSpace, ArchivedSummary, ArchivedTenant } from "../archive/archived.ts";
import type { ArchivePlace } from "../archive/check-chain.ts";
import { invalidAt } from "../archive/reading.ts";
import type { Connection, SqlRow } from "../database/connection.ts";
import { type WriteOperation, type WriteUnit, writeOperation } from "../database/operation.ts";
import { HoldfastError } from "../errors/index.ts";
import { mintId } from "../io/ids.ts";
import { insertRevision } from "../segments/sqlite/event-revisions.ts";
import { findEvent, insertEventRow } from "../segments/sqlite/events.ts";
import type { TakenEvent } from "./archived-event.ts";
import { changeOf, type NewChange, noteChanges } from "./changes.ts";
import { StagedRecords, type StagingRules } from "./staged-records.ts";
import { putSummary } from "./summaries.ts";
import { findTenant, type TenantLife } from "./tenants.ts";

/** A record of an archive with the line where it stands. */
export type StagedRecord = { readonly line: number } & (
  | { readonly tenant: ArchivedTenant }
  | { readonly session: ArchivedSession }
  | { readonly event: TakenEvent }
  | { readonly summary: ArchivedSummary }
);

export interface StageInput extends Omit<StagingRules, "segmentBase" | "space"> {
  readonly import: number;
  /** How far the import came before: whoever finds it elsewhere is not alone. */
  readonly from: number;
  readonly records: readonly StagedRecord[];
  /** Behind the last record. */
  readonly place: ArchivePlace;
  readonly space: ArchivedSpace | undefined;
  /** Under which id the one tenant is taken in; absent for its own. */
  readonly as: string | undefined;
}

/** Takes in some records in one commit together with how far the archive was read, so that none is taken in twice. */
export const stageRecords: WriteOperation<StageInput, null> = writeOperation("memory.stage-archive", (unit, input) => {
  const row = unit.connection.prepare("SELECT * FROM imports WHERE import = ?").get(input.import);
  if (row === undefined || row.published !== null || Number(row.lines) !== input.from)
    throw new HoldfastError("BUSY", "Another process takes in the same archive; let it end.", {
      outcome: "not-applied",
    });
  const stage = new Stage(unit, input, row);
  for (const record of input.records) {
    unit.cancellation.assertLive();
    stage.take(record);
  }
  stage.finish();
  unit.connection
    .prepare("UPDATE imports SET lines = ?, digest = ?, touched_at = ? WHERE import = ?")
    .run(input.place.lines, input.place.digest, unit.nowMicros, input.import);
  return null;
});

class Stage {
  readonly #unit: WriteUnit;
  readonly #input: StageInput;
  readonly #eventBase: number;
  readonly #segmentBase: number;
  readonly #sessions = new Map<string, StagedSession>();
  #tenant: TenantLife | undefined;
  #records: StagedRecords | undefined;
  #changes: NewChange[] = [];

  constructor(unit: WriteUnit, input: StageInput, row: SqlRow) {
    this.#unit = unit;
    this.#input = input;
    this.#eventBase = Number(row.event_base);
    this.#segmentBase = Number(row.segment_base);
    this.#tenant = lastStagedTenant(unit.connection, input.import);
  }

  take(record: StagedRecord): void {
    try {
      if ("tenant" in record) this.#takeTenant(record.tenant);
      else if ("session" in record) this.#takeSession(record.session);
      else if ("event" in record) this.#takeEvent(record.event);
      else this.#takeSummary(record.summary);
    } catch (error) {
      if (error instanceof HoldfastError && error.code === "INVALID_ARGUMENT") throw invalidAt(record.line, error);
      throw error;
    }
  }

  /** Ends what belongs to one tenant. */
  finish(): void {
    this.#records?.finish();
    this.#records = undefined;
    if (this.#tenant !== undefined) noteChanges(this.#unit, this.#tenant.tenant, this.#changes);
    this.#changes = [];
    this.#sessions.clear();
  }

  #takeTenant({ id: archivedId, createdAt }: ArchivedTenant): void {
    this.finish();
    const { connection } = this.#unit;
    const id = this.#input.as ?? archivedId;
    assertTakeable(connection, id);
    const staged = connection.prepare("SELECT 1 AS found FROM tenants WHERE import = ? AND id = ?");
    if (staged.get(this.#input.import, id) !== undefined) throw repeated("tenant");
    const incarnation = mintId();
    const { lastInsertRowid: tenant } = connection
      .prepare("INSERT INTO tenants (id, incarnation, documents, tokens, import, created_at) VALUES (?, ?, 0, 0, ?, ?)")
      .run(id, incarnation, this.#input.import, createdAt);
    this.#tenant = { tenant, id, incarnation };
  }

  #takeSession({ id, user, createdAt }: ArchivedSession): void {
    const { tenant } = this.#requireTenant();
    const { changes, lastInsertRowid: session } = this.#unit.connection
      .prepare(
        "INSERT INTO sessions (tenant, id, user, incarnation, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (tenant, id) DO NOTHING",
      )
      .run(tenant, id, user ?? null, mintId(), createdAt);
    if (changes === 0) throw repeated("session");
    this.#changes.push({ kind: "session-created", session, sessionId: id });
  }

  #takeEvent(archived: TakenEvent): void {
    const { connection } = this.#unit;
    const { tenant } = this.#requireTenant();
    const { session, user } = this.#session(archived.session);
    const taken = { ...archived, number: archived.number + this.#eventBase };
    const { event, number, revision, createdAt, updatedAt, firstDigest } = taken;
    if (findEvent(connection, tenant, event.id) !== undefined) throw repeated("event");
    assertFree(connection, "events", "event", number);
    for (const segment of taken.segments)
      assertFree(connection, "segments", "segment", segment.number + this.#segmentBase);
    const owner = { tenant, session, sessionId: archived.session, user };
    insertEventRow(connection, owner, event, { event: number, revision, createdAt, updatedAt, firstDigest });
    for (const earlier of taken.revisions) insertRevision(connection, number, earlier, earlier.replacedAt);
    this.#recordsOf().write(owner, taken);
    this.#changes.push(changeOf("written", owner, event.id, revision));
  }

  #takeSummary({ session: id, from, to, ...summary }: ArchivedSummary): void {
    const { tenant } = this.#requireTenant();
    const { session } = this.#session(id);
    const [first, last] = [this.#eventOf(session, from), this.#eventOf(session, to)];
    if (first.at > last.at) throw invalid("a summary ends before it begins");
    const kept = this.#unit.connection.prepare("SELECT 1 AS found FROM summaries WHERE session = ?").get(session);
    if (kept !== undefined) throw repeated("summary");
    putSummary(this.#unit.connection, { session, tenant }, { ...summary, from: first, to: last });
  }

  #requireTenant(): TenantLife {
    if (this.#tenant === undefined) throw invalid("it belongs to no tenant");
    return this.#tenant;
  }

  #recordsOf(): StagedRecords {
    const { space, keepsPending } = this.#input;
    const rules = { segmentBase: this.#segmentBase, space, keepsPending };
    this.#records ??= new StagedRecords(this.#unit, this.#requireTenant(), rules);
    return this.#records;
  }

  #session(id: string): StagedSession {
    const known = this.#sessions.get(id);
    if (known !== undefined) return known;
    const row = this.#unit.connection
      .prepare("SELECT session, user FROM sessions WHERE tenant = ? AND id = ?")
      .get(this.#requireTenant().tenant, id);
    if (row === undefined) throw invalid("it names a session that the archive does not have");
    const session = { session: Number(row.session), user: row.user === null ? undefined : String(row.user) };
    this.#sessions.set(id, session);
    return session;
  }

  #eventOf(session: number, id: string): { readonly id: string; readonly at: bigint; readonly event: number } {
    const row = this.#unit.connection
      .prepare("SELECT event, at FROM events WHERE tenant = ? AND id = ? AND session = ?", { bigints: true })
      .get(this.#requireTenant().tenant, id, session);
    if (row === undefined) throw invalid("a summary names an event that its session does not have");
    return { id, at: BigInt(row.at as bigint), event: Number(row.event) };
  }
}

interface StagedSession {
  readonly session: number;
  readonly user: string | undefined;
}

function lastStagedTenant(connection: Connection, begun: number): TenantLife | undefined {
  const row = connection
    .prepare("SELECT tenant, id, incarnation FROM tenants WHERE import = ? ORDER BY tenant DESC LIMIT 1")
    .get(begun);
  return row && { tenant: Number(row.tenant), id: String(row.id), incarnation: String(row.incarnation) };
}

/** A tenant that holds something is never written over; one that was only created gives way. */
export function assertTakeable(connection: Connection, id: string): void {
  const life = findTenant(connection, id);
  if (life === undefined || isUntouched(connection, life)) return;
  const message = `The tenant ${JSON.stringify(id)} exists in this folder; take the archive in under another id, into another folder, or delete that tenant first.`;
  throw new HoldfastError("ALREADY_EXISTS", message, { details: { tenant: id }, outcome: "not-applied" });
}

function isUntouched(connection: Connection, { tenant }: TenantLife): boolean {
  const row = connection
    .prepare(
      `SELECT documents = 0 AND changes = 0 AND changes_floor = 0 AND storage_space IS NULL
         AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.tenant = tenants.tenant)
         AND NOT EXISTS (SELECT 1 FROM events WHERE events.tenant = tenants.tenant) AS untouched
       FROM tenants WHERE tenant = ?`,
    )
    .get(tenant);
  return row?.untouched === 1;
}

function assertFree(
  connection: Connection,
  table: "events" | "segments",
  key: "event" | "segment",
  number: number,
): void {
  const row = connection.prepare(`SELECT 1 AS found FROM ${table} WHERE ${key} = ?`).get(number);
  if (row !== undefined) throw repeated(`number of the ${key}`);
}

function repeated(what: string): HoldfastError {
  return invalid(`the ${what} is there twice`);
}

function invalid(reason: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", reason);
}
