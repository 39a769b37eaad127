import { type ArchiveCounts, type ArchiveRecord, counted } from "../archive/archived.ts";
import type { ArchivePlace } from "../archive/check-chain.ts";
import { ArchivePrinter } from "../archive/printing.ts";
import { type ReadOperation, type ReadView, readOperation } from "../database/operation.ts";
import { currentSpace } from "../embedding/spaces.ts";
import { HoldfastError } from "../errors/index.ts";
import type { EventPlace } from "../segments/sqlite/event-filter.ts";
import { revisionsOf } from "../segments/sqlite/event-revisions.ts";
import { placesBehind, SegmentReader, sessionsBehind, summariesBehind, tenantBehind } from "./archive-rows.ts";
import { toArchivedEvent } from "./archived-event.ts";
import { declaredKeys } from "./declared-keys.ts";
import { readByNumber } from "./pending-rows.ts";
import { findTenant, type TenantLife } from "./tenants.ts";

/** Where an export goes on. */
export type ArchiveCursor =
  | { readonly step: "head" }
  | { readonly step: "tenants"; readonly after: string }
  | { readonly step: "sessions"; readonly tenant: TenantLife; readonly after: string }
  | { readonly step: "events"; readonly tenant: TenantLife; readonly after: EventPlace | undefined }
  | { readonly step: "summaries"; readonly tenant: TenantLife; readonly after: string }
  | { readonly step: "end" }
  | { readonly step: "done" };

export interface ArchivePageInput {
  /** The one tenant that is meant; absent for all. */
  readonly only: string | undefined;
  readonly id: string;
  readonly createdAt: bigint;
  readonly skipDamaged: boolean;
  readonly cursor: ArchiveCursor;
  readonly place: ArchivePlace;
  readonly counts: ArchiveCounts;
}

export interface ArchivePageOutput extends Pick<ArchivePageInput, "cursor" | "place" | "counts"> {
  /** Whole lines. */
  readonly text: string;
}

/** About as much text as one page has; a single event may be more. */
const PAGE_UNITS = 1024 * 1024;
/** Narrow rows that are read at once. */
const ROWS_AT_ONCE = 256;

/** The next lines of an archive. All pages of one are read in one transaction, so that it is of one moment. */
export const readArchivePage: ReadOperation<ArchivePageInput, ArchivePageOutput> = readOperation(
  "memory.archive-page",
  (view, input) => new PageWriter(view, input).write(),
);

class PageWriter {
  readonly #view: ReadView;
  readonly #input: ArchivePageInput;
  readonly #printer: ArchivePrinter;
  #counts: ArchiveCounts;

  constructor(view: ReadView, input: ArchivePageInput) {
    this.#view = view;
    this.#input = input;
    this.#printer = new ArchivePrinter(input.place);
    this.#counts = input.counts;
  }

  write(): ArchivePageOutput {
    let { cursor } = this.#input;
    while (cursor.step !== "done" && this.#printer.units < PAGE_UNITS) {
      this.#view.cancellation.assertLive();
      cursor = this.#step(cursor);
    }
    return { text: this.#printer.take(), cursor, place: this.#printer.place, counts: this.#counts };
  }

  #step(cursor: Exclude<ArchiveCursor, { readonly step: "done" }>): ArchiveCursor {
    switch (cursor.step) {
      case "head":
        this.#head();
        return { step: "tenants", after: "" };
      case "tenants":
        return this.#tenant(cursor.after);
      case "sessions":
        return this.#sessions(cursor.tenant, cursor.after);
      case "events":
        return this.#events(cursor.tenant, cursor.after);
      case "summaries":
        return this.#summaries(cursor.tenant, cursor.after);
      case "end":
        this.#print({ type: "end", counts: this.#counts });
        return { step: "done" };
      default:
        return cursor satisfies never;
    }
  }

  #head(): void {
    const { id, createdAt, only } = this.#input;
    if (only !== undefined) requireTenantId(this.#view, only);
    const number = (sql: string): number => Number(this.#view.connection.prepare(sql).get()?.number ?? 0);
    const head = {
      id,
      createdAt,
      tenants: only === undefined ? number("SELECT count(*) AS number FROM tenants WHERE import IS NULL") : 1,
      lastEvent: number("SELECT max(event) AS number FROM events"),
      lastSegment: number("SELECT max(segment) AS number FROM segments"),
    };
    this.#print({ type: "head", head });
    const space = currentSpace(this.#view.connection);
    if (space !== undefined) {
      const { identity, dimensions } = space;
      this.#print({
        type: "space",
        space: { identity, dimensions, createdAt: spaceCreatedAt(this.#view, space.space) },
      });
    }
    for (const pipeline of pipelinesOf(this.#view)) this.#print({ type: "pipeline", pipeline });
    for (const { name, kind } of declaredKeys(this.#view.connection)) this.#print({ type: "key", key: { name, kind } });
  }

  #tenant(after: string): ArchiveCursor {
    const { only } = this.#input;
    if (only !== undefined && after !== "") return { step: "end" };
    const row =
      only === undefined
        ? tenantBehind(this.#view.connection, after)
        : tenantOf(this.#view, requireTenantId(this.#view, only));
    if (row === undefined) return { step: "end" };
    this.#print({ type: "tenant", tenant: { id: row.life.id, createdAt: row.createdAt } });
    return { step: "sessions", tenant: row.life, after: "" };
  }

  #sessions(tenant: TenantLife, after: string): ArchiveCursor {
    const rows = sessionsBehind(this.#view.connection, tenant.tenant, { after, limit: ROWS_AT_ONCE });
    for (const session of rows) this.#print({ type: "session", session });
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_AT_ONCE) return { step: "events", tenant, after: undefined };
    return { step: "sessions", tenant, after: last.id };
  }

  #events(tenant: TenantLife, after: EventPlace | undefined): ArchiveCursor {
    const places = placesBehind(this.#view.connection, tenant.tenant, { after, limit: ROWS_AT_ONCE });
    const segments = new SegmentReader(this.#view, tenant);
    for (const place of places) {
      this.#view.cancellation.assertLive();
      this.#event(tenant, place.event, segments);
      if (this.#printer.units >= PAGE_UNITS) return { step: "events", tenant, after: place };
    }
    if (places.length < ROWS_AT_ONCE) return { step: "summaries", tenant, after: "" };
    return { step: "events", tenant, after: places.at(-1) };
  }

  #event(tenant: TenantLife, number: number, segments: SegmentReader): void {
    const stored = readByNumber(this.#view, number);
    if (stored === "damaged") {
      this.#leaveOut("An event", { tenant: tenant.id, number });
      return;
    }
    const where = { tenant: tenant.id, event: stored.id };
    const revisions = revisionsOf(this.#view.connection, number).filter((revision) => {
      if (revision === "damaged") this.#leaveOut("An earlier revision of an event", where);
      return revision !== "damaged";
    });
    const whole = segments.of(stored).flatMap(({ segment, lacksVector }) => {
      if (lacksVector || segment === "damaged") this.#leaveOut("A segment of an event or its vector", where);
      return segment === "damaged" ? [] : [segment];
    });
    this.#print({ type: "event", event: toArchivedEvent(stored, revisions, whole) });
  }

  #summaries(tenant: TenantLife, after: string): ArchiveCursor {
    const rows = summariesBehind(this.#view, tenant.tenant, { after, limit: ROWS_AT_ONCE });
    for (const { session, summary } of rows) {
      if (summary === "damaged") this.#leaveOut("A summary", { tenant: tenant.id, session });
      else this.#print({ type: "summary", summary });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_AT_ONCE) return { step: "tenants", after: tenant.id };
    return { step: "summaries", tenant, after: last.session };
  }

  #leaveOut(what: string, details: Readonly<Record<string, string | number>>): void {
    if (!this.#input.skipDamaged) {
      const message = `${what} is damaged, so that the archive would not be whole; repair the folder or restore a backup, or leave damaged parts out with skipDamaged.`;
      throw new HoldfastError("DAMAGED", message, { details });
    }
    this.#counts = { ...this.#counts, damaged: this.#counts.damaged + 1 };
  }

  #print(record: ArchiveRecord): void {
    this.#printer.print(record);
    this.#counts = counted(this.#counts, record);
  }
}

function requireTenantId({ connection }: ReadView, id: string): TenantLife {
  const life = findTenant(connection, id);
  if (life !== undefined) return life;
  const message = "There is no tenant with this id; list the tenants to see which there are.";
  throw new HoldfastError("NOT_FOUND", message, { details: { tenant: id } });
}

function tenantOf({ connection }: ReadView, life: TenantLife) {
  const row = connection.prepare("SELECT created_at FROM tenants WHERE tenant = ?", { bigints: true }).get(life.tenant);
  return { life, createdAt: BigInt((row?.created_at ?? 0n) as bigint) };
}

function spaceCreatedAt({ connection }: ReadView, space: number): bigint {
  const row = connection.prepare("SELECT created_at FROM spaces WHERE space = ?", { bigints: true }).get(space);
  return BigInt((row?.created_at ?? 0n) as bigint);
}

function pipelinesOf({ connection }: ReadView) {
  return connection
    .prepare("SELECT segmenter, derive, first_at FROM pipelines ORDER BY first_at, segmenter, derive", {
      bigints: true,
    })
    .all()
    .map((row) => ({
      segmenter: String(row.segmenter),
      derive: String(row.derive),
      firstAt: BigInt(row.first_at as bigint),
    }));
}
