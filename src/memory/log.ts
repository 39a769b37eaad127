import { crc32 } from "node:zlib";
import { formatDatetime } from "../contract/datetime.ts";
import { LIMITS } from "../contract/limits.ts";
import type { CallOptions } from "../contract/store.ts";
import { assertWellFormed } from "../contract/text.ts";
import { withDeadline } from "../database/call.ts";
import { HoldfastError } from "../errors/index.ts";
import { mintId } from "../io/ids.ts";
import { cursorExpired, readChanges } from "./change-feed.ts";
import type { MemoryCore } from "./core.ts";
import { openPlace, sealPlace } from "./cursors.ts";
import type { Scope } from "./event-rows.ts";
import type {
  ChangesOptions,
  ChangesPage,
  RecentAnswer,
  RecentEvent,
  RecentOptions,
  SessionSummary,
  UpdateSummaryOptions,
} from "./log-contract.ts";
import { toMemoryEvent } from "./memory-event.ts";
import type { SessionLife } from "./sessions.ts";
import { commitSummary, readRecent, readSummary, readSummaryWork, type SummaryRow } from "./summaries.ts";
import type { TenantLife } from "./tenants.ts";

const EVENTS_MAX = 1_000;
const DEFAULT_EVENTS = 20;
const DEFAULT_EVENTS_PER_CALL = 50;
const DEFAULT_CHANGES = 100;
const SUMMARY_LENGTH_MAX = 1024 * 1024;

/** How often a summary is made anew when what it covers changes meanwhile. */
const SUMMARY_ATTEMPTS = 10;

/** What happened and what was said: the feed, the newest events, the rolling summary. */
export class Log {
  readonly #core: MemoryCore;
  readonly #scope: Scope;

  constructor(core: MemoryCore, scope: Scope) {
    this.#core = core;
    this.#scope = scope;
  }

  async changes({ after, limit = DEFAULT_CHANGES, ...call }: ChangesOptions): Promise<ChangesPage> {
    const { tenant, session } = this.#scope;
    assertWhole(limit, { name: "limit", from: 1, to: LIMITS.scanPageMax });
    const feed = feedOf(tenant, this.#core.epoch);
    const input = { tenant, session, after: after === undefined ? undefined : sequenceOf(feed, after), limit };
    const { rows, highWater, last } = await this.#core.database.read(readChanges, input, call);
    return {
      changes: rows.map(({ sequence, kind, sessionId, event, revision, at }) => ({
        cursor: cursorOf(feed, sequence),
        kind,
        session: sessionId,
        ...(event !== undefined && { event }),
        ...(revision !== undefined && { revision }),
        at: formatDatetime(at),
      })),
      cursor: cursorOf(feed, last),
      highWater: cursorOf(feed, highWater),
      more: last < highWater,
    };
  }

  async recent(options: RecentOptions): Promise<RecentAnswer> {
    const { maxEvents = DEFAULT_EVENTS, maxCharacters, ...call } = options;
    assertWhole(maxEvents, { name: "maxEvents", from: 1, to: EVENTS_MAX });
    if (maxCharacters !== undefined)
      assertWhole(maxCharacters, { name: "maxCharacters", from: 1, to: LIMITS.textBytesMax });
    const input = { session: this.#session(), maxEvents, maxCharacters };
    const { events, damaged, summary } = await this.#core.database.read(readRecent, input, call);
    return {
      events: events.map((event) => cut(toMemoryEvent(event), maxCharacters)),
      ...(summary && { summary: toSummary(summary) }),
      damaged,
    };
  }

  async summary(options: CallOptions): Promise<SessionSummary | undefined> {
    const summary = await this.#core.database.read(readSummary, this.#session(), options);
    return summary && toSummary(summary);
  }

  async updateSummary(options: UpdateSummaryOptions): Promise<SessionSummary | undefined> {
    const { keepEvents = DEFAULT_EVENTS, maxEventsPerCall = DEFAULT_EVENTS_PER_CALL, onProgress, ...call } = options;
    assertWhole(keepEvents, { name: "keepEvents", from: 0, to: EVENTS_MAX });
    assertWhole(maxEventsPerCall, { name: "maxEventsPerCall", from: 1, to: EVENTS_MAX });
    const bounds = withDeadline(call, "write");
    let covered = 0;
    for (let attempts = 0; attempts < SUMMARY_ATTEMPTS; ) {
      const work = { session: this.#session(), keepEvents, limit: maxEventsPerCall };
      const { summary, events } = await this.#core.database.read(readSummaryWork, work, bounds);
      if (events.length === 0) return summary && toSummary(summary);
      const text = await this.#summarise(summary, events.map(toMemoryEvent), bounds);
      this.#core.assertWanted();
      const input = {
        session: this.#session(),
        base: summary?.version,
        version: mintId(),
        text,
        events: events.map(({ event, id, at, revision }) => ({ event, id, at, revision })),
      };
      const sizeBytes = text.length * 2 + 1_024;
      if (await this.#core.database.write(commitSummary, input, { ...bounds, sizeBytes })) {
        covered += events.length;
        onProgress?.({ covered });
      } else attempts += 1;
    }
    throw new HoldfastError("BUSY", "What the summary covers changes faster than it is made; try again later.", {
      outcome: "not-applied",
    });
  }

  async #summarise(
    summary: SummaryRow | undefined,
    events: readonly RecentEvent[],
    { signal = new AbortController().signal }: CallOptions,
  ): Promise<string> {
    const { summarise } = this.#core;
    if (summarise === undefined) {
      const message =
        "This memory has no summarise hook: open it with openMemory({ summarise: async ({ previous, events }) => text }).";
      throw new HoldfastError("INVALID_ARGUMENT", message);
    }
    const { id, user } = this.#session();
    const given = { session: id, ...(user !== undefined && { user }), ...(summary && { previous: summary.text }) };
    let text: unknown;
    try {
      text = await summarise({ ...given, events, signal });
    } catch (cause) {
      const message = "The summarise hook failed; its own error is the cause. What was covered before stays.";
      throw new HoldfastError("HOOK_FAILED", message, {
        cause,
        outcome: "not-applied",
        details: { hook: "summarise" },
      });
    }
    if (typeof text !== "string" || text.trim() === "" || text.length > SUMMARY_LENGTH_MAX) {
      const message = `The summarise hook answers a text that is not empty, of at most ${SUMMARY_LENGTH_MAX} characters.`;
      throw new HoldfastError("HOOK_FAILED", message, { outcome: "not-applied", details: { hook: "summarise" } });
    }
    assertWellFormed(text, "summary");
    return text;
  }

  #session(): SessionLife {
    if (this.#scope.session !== undefined) return this.#scope.session;
    throw new HoldfastError("BUG", "A tenant was asked for the log of a session.");
  }
}

function toSummary({ text, from, to, events, updatedAt }: SummaryRow): SessionSummary {
  return {
    text,
    from: { event: from.id, at: formatDatetime(from.at) },
    to: { event: to.id, at: formatDatetime(to.at) },
    events,
    updatedAt: formatDatetime(updatedAt),
  };
}

/** Only the newest event can be longer than all of the room. */
function cut(event: RecentEvent, maxCharacters: number | undefined): RecentEvent {
  if (maxCharacters === undefined || event.text.length <= maxCharacters) return event;
  let end = 0;
  for (const { index, segment } of new Intl.Segmenter().segment(event.text.slice(0, maxCharacters + GRAPHEME_ROOM))) {
    if (index + segment.length > maxCharacters) break;
    end = index + segment.length;
  }
  return { ...event, text: event.text.slice(0, end), truncated: true };
}

/** Looked at behind the cut, so that the last grapheme is seen whole. */
const GRAPHEME_ROOM = 64;

/**
 * Which feed a cursor is of. Cursors of one life of a tenant mean nothing to another, nor to the folder that a backup was
 * restored into: what followed there is not what followed here.
 */
interface Feed {
  readonly tenant: TenantLife;
  readonly mark: string;
}

function feedOf(tenant: TenantLife, epoch: string): Feed {
  return { tenant, mark: crc32(`${tenant.incarnation} ${epoch}`).toString(16).padStart(8, "0") };
}

const CURSOR = /^c([0-9a-f]{8})_(.*)$/;

function cursorOf({ tenant, mark }: Feed, sequence: number): string {
  return `c${mark}_${sealPlace(tenant, "changes", { at: 0n, event: sequence })}`;
}

function sequenceOf({ tenant, mark }: Feed, cursor: unknown): number {
  const [, of, sealed] = (typeof cursor === "string" ? CURSOR.exec(cursor) : undefined) ?? [];
  if (of !== undefined && of !== mark) throw cursorExpired();
  const place = sealed === undefined ? undefined : openPlace(tenant, "changes", sealed);
  if (place?.at === 0n) return place.event;
  throw new HoldfastError("INVALID_ARGUMENT", "after is a cursor of this feed, as it was answered.");
}

function assertWhole(value: unknown, { name, from, to }: { name: string; from: number; to: number }): void {
  if (Number.isInteger(value) && Number(value) >= from && Number(value) <= to) return;
  throw new HoldfastError("INVALID_ARGUMENT", `${name} is a whole number from ${from} to ${to}.`);
}
