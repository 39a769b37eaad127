import { eraseLog } from "../backends/embedded/reclaimer.ts";
import { assertId } from "../contract/names.ts";
import { assertOptions, assertScope } from "../contract/option-names.ts";
import type { CallOptions, Erasure } from "../contract/store.ts";
import { behindCommit, behindPart, withDeadline } from "../database/call.ts";
import type { WriteOperation } from "../database/operation.ts";
import { HoldfastError } from "../errors/index.ts";
import type { BoundFilter } from "../filter/index.ts";
import { yieldToEventLoop } from "../io/clock.ts";
import type { DeletionOptions, DeletionReceipt, ForgetOptions, ForgetReceipt, ForgetSelection } from "./contract.ts";
import { EVENT_OVERHEAD_BYTES, type MemoryCore } from "./core.ts";
import type { Scope } from "./event-rows.ts";
import {
  compactWords,
  countForgettable,
  countKnown,
  FORGOTTEN_PER_COMMIT,
  forgetEvents,
  forgetSome,
} from "./forget.ts";
import { FORGET_SELECTION, SCOPED_FORGET_SELECTION } from "./options.ts";
import { reclaimEndedTenant, reclaimEndingSession } from "./reclaim.ts";
import { bindScope } from "./scope.ts";
import { endSession } from "./sessions.ts";
import { endTenant, type TenantLife } from "./tenants.ts";

const STEP_BYTES = 512;

/** Everything that removes: single events, sessions, tenants. */
export class Forgetting {
  readonly #core: MemoryCore;

  constructor(core: MemoryCore) {
    this.#core = core;
  }

  async forget(scope: Scope, selection: ForgetSelection, options: ForgetOptions): Promise<ForgetReceipt> {
    if (options.dryRun === true) this.#core.assertOpen();
    else this.#core.assertWritable();
    assertSelection(scope, selection);
    const bounds = withDeadline(callOptions(options), "write");
    const forgotten =
      selection.events === undefined
        ? await this.#forgetWhere(scope, this.#bind(scope, selection), options.dryRun === true, bounds)
        : await this.#forgetIds(scope, selection.events, options.dryRun === true, bounds);
    if (options.erase !== true || options.dryRun === true) return { forgotten };
    return { forgotten, erasure: await behindCommit(this.#erase(bounds)) };
  }

  /** Also finishes a deletion that was cut short. */
  async deleteSession(tenant: TenantLife, id: string, options: DeletionOptions): Promise<DeletionReceipt> {
    this.#core.assertWritable();
    assertId(id, "session id");
    const bounds = withDeadline(callOptions(options), "write");
    const call = { ...bounds, sizeBytes: STEP_BYTES };
    const session = await this.#core.database.write(endSession, { tenant, id }, call);
    if (session !== undefined) await behindCommit(this.#untilDone(reclaimEndingSession, session, bounds));
    const deleted = session !== undefined;
    return options.erase === true ? { deleted, erasure: await behindCommit(this.#erase(bounds)) } : { deleted };
  }

  /** Removes what is left of a session that is being deleted, so that its id is free again. */
  async finishSession(session: number, options: CallOptions): Promise<void> {
    await this.#untilDone(reclaimEndingSession, session, options);
  }

  async deleteTenant(id: string, options: DeletionOptions): Promise<DeletionReceipt> {
    this.#core.assertWritable();
    assertId(id, "tenant id");
    const bounds = withDeadline(callOptions(options), "write");
    const tenant = await this.#core.database.write(endTenant, id, { ...bounds, sizeBytes: STEP_BYTES });
    this.#core.pipeline.forgetQueries(id);
    const deleted = tenant !== undefined;
    if (options.erase !== true) {
      this.#core.reclaimer.wake();
      return { deleted };
    }
    if (tenant !== undefined) await behindCommit(this.#untilDone(reclaimEndedTenant, tenant, bounds));
    return { deleted, erasure: await behindCommit(this.#erase(bounds)) };
  }

  async #forgetIds(scope: Scope, ids: readonly string[], dryRun: boolean, options: CallOptions): Promise<number> {
    const input = { tenant: scope.tenant, session: scope.session };
    const distinct = [...new Set(ids)];
    if (dryRun) return this.#core.database.read(countKnown, { ...input, events: distinct }, options);
    let forgotten = 0;
    for (let start = 0; start === 0 || start < distinct.length; start += FORGOTTEN_PER_COMMIT) {
      const events = distinct.slice(start, start + FORGOTTEN_PER_COMMIT);
      const call = { ...options, sizeBytes: events.length * EVENT_OVERHEAD_BYTES };
      const part = this.#core.database.write(forgetEvents, { ...input, events }, call);
      forgotten += await (start === 0 ? part : behindPart(part));
    }
    return forgotten;
  }

  /** In commits of bounded size, so that other writes go between; what is remembered meanwhile stays. */
  async #forgetWhere(
    { tenant, session }: Scope,
    filter: BoundFilter | undefined,
    dryRun: boolean,
    options: CallOptions,
  ): Promise<number> {
    const { events, upTo } = await this.#core.database.read(countForgettable, { tenant, session, filter }, options);
    if (dryRun || events === 0) return events;
    let forgotten = 0;
    for (;;) {
      const input = { tenant, session, filter, upTo };
      const part = this.#core.database.write(forgetSome, input, { ...options, sizeBytes: STEP_BYTES });
      const removed = await (forgotten === 0 ? part : behindPart(part));
      forgotten += removed;
      if (removed < FORGOTTEN_PER_COMMIT) return forgotten;
      await yieldToEventLoop();
    }
  }

  #bind({ tenant, session }: Scope, selection: ForgetSelection): BoundFilter | undefined {
    assertNarrows(selection);
    if (session !== undefined) return bindScope({ where: selection.where, session: session.id });
    if (selection.session !== undefined) this.#core.requireKnownSession(tenant, selection.session);
    return bindScope(selection);
  }

  async #untilDone(step: WriteOperation<number, boolean>, number: number, options: CallOptions): Promise<void> {
    while (await this.#core.database.write(step, number, { ...options, sizeBytes: STEP_BYTES }))
      await yieldToEventLoop();
  }

  /** Rows of ended partitions, what the text index keeps of removed words, and the log. */
  async #erase(bounds: CallOptions): Promise<Erasure> {
    const { database, reclaimer } = this.#core;
    await reclaimer.finish();
    await database.write(compactWords, null, { ...bounds, sizeBytes: STEP_BYTES });
    return eraseLog(database);
  }
}

function callOptions({ signal, timeoutMs }: CallOptions): CallOptions {
  return { ...(signal !== undefined && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
}

function assertSelection(scope: Scope, selection: unknown): asserts selection is ForgetSelection {
  const names = scope.session === undefined ? FORGET_SELECTION : SCOPED_FORGET_SELECTION;
  assertOptions(selection, names, "what to forget");
  const given = selection as ForgetSelection;
  assertScope(given, "user");
  assertScope(given, "session");
  assertScope(given, "where");
  const keys = Object.keys(given);
  if (keys.length === 0) throw invalid('Say what to forget: { events: ["m1"] }, { session }, { user } or { where }.');
  if (!Object.hasOwn(given, "events")) return;
  if (keys.length > 1) throw invalid("Events are forgotten by their ids or by a filter and a scope, not by both.");
  if (!Array.isArray(given.events)) throw invalid('Say what to forget by the ids of events: { events: ["m1"] }.');
  for (const id of given.events) assertId(id, "event id");
}

/** A filter that admits everything, an empty text above all, is more often a variable that was never set than a wish (F3). */
function assertNarrows({ where }: ForgetSelection): void {
  if (where === undefined || bindScope({ where }) !== undefined) return;
  const message =
    "The filter admits every event. Give one that narrows, or leave it out: { session } or { user } forgets all of theirs, deleteSession and deleteTenant everything.";
  throw new HoldfastError("INVALID_FILTER", message);
}

function invalid(message: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", message);
}
