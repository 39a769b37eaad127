import { LIMITS } from "../contract/limits.ts";
import { assertId } from "../contract/names.ts";
import { assertOptions } from "../contract/option-names.ts";
import type { CallOptions } from "../contract/store.ts";
import { beforeCommit, withDeadline } from "../database/call.ts";
import { HoldfastError } from "../errors/index.ts";
import { InputDigest } from "../registry/input-digest.ts";
import { keyedCall } from "../registry/keyed-call.ts";
import type { EventPlace } from "../segments/sqlite/event-filter.ts";
import type { StoredEvent } from "../segments/sqlite/events.ts";
import type { MemoryCore } from "./core.ts";
import { openPlace, sealPlace } from "./cursors.ts";
import type {
  CountOptions,
  EventPage,
  EventRevision,
  EventUpdate,
  ListOptions,
  MemoryEvent,
  UpdateOptions,
} from "./event-contract.ts";
import { propertyChanges } from "./event-input.ts";
import { countEventRows, listEventRows, readEventRow, readHistory, type Scope } from "./event-rows.ts";
import type { ExportPage } from "./export-contract.ts";
import { toExportedEvent } from "./exported-event.ts";
import { toMemoryEvent, toRevision } from "./memory-event.ts";
import { EVENT_UPDATE } from "./options.ts";
import { revisionConflict } from "./revision-conflict.ts";
import { bindScope } from "./scope.ts";
import type { TenantLife } from "./tenants.ts";
import { applyUpdate, damagedEvent, isSame, readUpdateReceipt, type UpdateReceipt, updateEventRow } from "./update.ts";

const DEFAULT_PAGE = 100;

/** How often an update without an expected revision is made anew when others come first. */
const UPDATE_ATTEMPTS = 20;

interface PageOf<Event> {
  readonly events: readonly Event[];
  readonly next?: string;
  readonly damaged: number;
}

/** Reading, counting and changing the events of a tenant or of one session. */
export class Events {
  readonly #core: MemoryCore;
  readonly #scope: Scope;

  constructor(core: MemoryCore, scope: Scope) {
    this.#core = core;
    this.#scope = scope;
  }

  async get(id: string, options: CallOptions): Promise<MemoryEvent | undefined> {
    assertId(id, "event id");
    const event = await this.#read(id, options);
    return event && toMemoryEvent(event);
  }

  async list(options: ListOptions): Promise<EventPage> {
    return this.#page(options, toMemoryEvent);
  }

  async export(options: ListOptions): Promise<ExportPage> {
    return this.#page(options, toExportedEvent);
  }

  async #page<Event>(options: ListOptions, read: (event: StoredEvent) => Event): Promise<PageOf<Event>> {
    const { where, user, session, limit = DEFAULT_PAGE, after, ...call } = options;
    if (!(Number.isInteger(limit) && limit >= 1 && limit <= LIMITS.scanPageMax))
      throw new HoldfastError("INVALID_ARGUMENT", `limit is a whole number from 1 to ${LIMITS.scanPageMax}.`);
    const filter = bindScope({ where, user, session: this.#sessionOf(session) });
    const place = after === undefined ? undefined : placeOf(this.#scope.tenant, after);
    const input = { ...this.#scope, filter, after: place, limit };
    const { events, damaged, next } = await this.#core.database.read(listEventRows, input, call);
    return {
      events: events.map(read),
      ...(next && { next: `e${sealPlace(this.#scope.tenant, "events", next)}` }),
      damaged,
    };
  }

  async count({ where, user, session, ...call }: CountOptions): Promise<number> {
    const filter = bindScope({ where, user, session: this.#sessionOf(session) });
    return this.#core.database.read(countEventRows, { ...this.#scope, filter }, call);
  }

  async history(id: string, options: CallOptions): Promise<readonly EventRevision[]> {
    assertId(id, "event id");
    const found = await this.#core.database.read(readHistory, { ...this.#scope, id }, options);
    if (found === undefined) throw unknownEvent(id);
    return [...found.earlier, found.event].map((revision) => {
      if (revision === "damaged") throw damagedEvent(id);
      return toRevision(revision);
    });
  }

  update(id: string, update: EventUpdate, options: UpdateOptions): Promise<MemoryEvent> {
    const { expectedRevision, idempotencyKey, ...call } = options;
    const given = {
      ...(expectedRevision !== undefined && { expectedRevision }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    };
    return this.#core.track(beforeCommit(this.#update(id, update, { ...given, ...withDeadline(call, "write") })));
  }

  async #update(id: string, update: EventUpdate, given: UpdateOptions): Promise<MemoryEvent> {
    const { expectedRevision: expected, idempotencyKey: _, ...options } = given;
    assertId(id, "event id");
    assertUpdate(update, expected);
    const { database } = this.#core;
    const keyed = keyedCall(given, database, () => digestOfUpdate(id, update, expected));
    const earlier = keyed && (await database.read(readUpdateReceipt, { ...this.#scope, keyed }, options));
    if (earlier !== undefined) return this.#updatedBefore(id, earlier, options);
    let base: number | undefined;
    for (let attempt = 0; attempt < UPDATE_ATTEMPTS; attempt += 1) {
      const stored = await this.#read(id, options);
      if (stored === undefined) throw unknownEvent(id);
      base ??= stored.event;
      const isExpected = expected === undefined || (stored.revision === expected && stored.event === base);
      if (!isExpected) throw revisionConflict(id, stored.revision);
      const event = applyUpdate(stored, update);
      if (isSame(event, stored) && keyed === undefined) return toMemoryEvent(stored);
      const textStays = event.text === stored.text && event.blocks === stored.blocks;
      const part = textStays ? undefined : (await this.#core.pipeline.toParts([event], options))[0];
      this.#core.assertWanted();
      const space = this.#core.pipeline.identity;
      const input = {
        ...this.#scope,
        id,
        base: { event: stored.event, revision: stored.revision },
        event,
        part,
        space,
        keyed,
      };
      const sizeBytes = event.text.length * 2 + (part?.vectors.byteLength ?? 0) + 1_024;
      const updated = await this.#core.database.write(updateEventRow, input, { ...options, sizeBytes });
      if (updated === "gone") throw unknownEvent(id);
      if (updated === "moved") continue;
      if (!("event" in updated)) return this.#updatedBefore(id, updated, options);
      this.#core.retrier.wake();
      return toMemoryEvent(updated);
    }
    throw revisionConflict(id, undefined);
  }

  /** The event as the first try left it: what it says now, or what it said then. */
  async #updatedBefore(id: string, { revision, forgotten }: UpdateReceipt, options: CallOptions): Promise<MemoryEvent> {
    const found = await this.#core.database.read(readHistory, { ...this.#scope, id }, options);
    if (found === undefined || forgotten === true) throw unknownEvent(id);
    if (found.event === "damaged") throw damagedEvent(id);
    const now = toMemoryEvent(found.event);
    if (found.event.revision === revision) return now;
    const then = found.earlier.find((earlier) => earlier !== "damaged" && earlier.revision === revision);
    if (then === undefined || then === "damaged") throw damagedEvent(id);
    const { replacedAt: _, ...said } = toRevision(then);
    const { blocks: __, ...fields } = now;
    return { ...fields, ...said };
  }

  async #read(id: string, options: CallOptions): Promise<StoredEvent | undefined> {
    const event = await this.#core.database.read(readEventRow, { ...this.#scope, id }, options);
    if (event === "damaged") throw damagedEvent(id);
    return event;
  }

  /** Asking for an unknown session is an error, never an empty answer (S1). */
  #sessionOf(session: string | undefined): string | undefined {
    if (this.#scope.session !== undefined) return this.#scope.session.id;
    if (session !== undefined) this.#core.requireKnownSession(this.#scope.tenant, session);
    return session;
  }
}

function assertUpdate(update: unknown, expected: unknown): asserts update is EventUpdate {
  assertOptions(update, EVENT_UPDATE, "an update of an event");
  const given = update as EventUpdate;
  if (given.text === undefined && given.blocks === undefined && given.properties === undefined)
    throw new HoldfastError("INVALID_ARGUMENT", "An update gives text, blocks or properties; this one has none.");
  if (expected !== undefined && !(Number.isSafeInteger(expected) && Number(expected) >= 1))
    throw new HoldfastError("INVALID_ARGUMENT", "expectedRevision is a whole number from 1.");
}

function placeOf(life: TenantLife, cursor: unknown): EventPlace {
  const place = typeof cursor === "string" && cursor.startsWith("e") && openPlace(life, "events", cursor.slice(1));
  if (place) return place;
  throw new HoldfastError(
    "INVALID_ARGUMENT",
    "after is the next of an earlier page of this tenant, as it was answered.",
  );
}

function unknownEvent(id: string): HoldfastError {
  const message = `There is no event ${JSON.stringify(id)}; list the events to see which there are.`;
  return new HoldfastError("NOT_FOUND", message, { details: { event: id } });
}

/** Of the bound update, so that two ways to write one value are one input. */
function digestOfUpdate(id: string, { text, blocks, properties }: EventUpdate, expected: number | undefined): string {
  const changes = [...propertyChanges(properties)].sort(([a], [b]) => (a < b ? -1 : 1));
  return new InputDigest("updateEvent").add([id, text, blocks, changes, expected]).end();
}
