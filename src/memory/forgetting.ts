import { eraseLog } from "../backends/embedded/reclaimer.ts";
import { assertId } from "../contract/names.ts";
import { assertOptions, assertScope } from "../contract/option-names.ts";
import type { CallOptions, Erasure } from "../contract/store.ts";
import { behindCommit, behindPart, withDeadline } from "../database/call.ts";
import type { WriteOperation } from "../database/operation.ts";
import { HoldfastError } from "../errors/index.ts";
import type { BoundFilter } from "../filter/index.ts";
import { yieldToEventLoop } from "../io/clock.ts";
import { InputDigest } from "../registry/input-digest.ts";
import { keyedCall } from "../registry/keyed-call.ts";
import { type KeyedCall, readReceipt } from "../registry/receipts.ts";
import type { DeletionOptions, DeletionReceipt, ForgetOptions, ForgetReceipt, ForgetSelection } from "./contract.ts";
import { EVENT_OVERHEAD_BYTES, type MemoryCore } from "./core.ts";
import type { Scope } from "./event-rows.ts";
import {
  compactWords,
  countForgettable,
  countKnown,
  FORGOTTEN_PER_COMMIT,
  type ForgetProgress,
  type ForgetSubject,
  forgetStep,
} from "./forget.ts";
import { FORGET_SELECTION, SCOPED_FORGET_SELECTION } from "./options.ts";
import { receiptOwner } from "./receipt-owners.ts";
import { reclaimEndedTenant, reclaimEndingSession } from "./reclaim.ts";
import { bindScope } from "./scope.ts";
import { endSession } from "./sessions.ts";
import { endTenant, type TenantLife } from "./tenants.ts";

const STEP_BYTES = 512;

interface Forget {
  readonly scope: Scope;
  readonly subject: ForgetSubject;
  readonly keyed: KeyedCall | undefined;
}

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
    assertExpected(selection, options.expectedRevision);
    const bounds = withDeadline(callOptions(options), "write");
    const subject = this.#subjectOf(scope, selection, options);
    const keyed = keyedCall(options, this.#core.database, () => new InputDigest("forget").add(subject).end());
    const forgotten =
      options.dryRun === true
        ? await this.#count(scope, subject, bounds)
        : await this.#forget({ scope, subject, keyed }, bounds);
    if (options.erase !== true || options.dryRun === true) return { forgotten };
    return { forgotten, erasure: await behindCommit(this.#erase(bounds)) };
  }

  /** Also finishes a deletion that was cut short. */
  async deleteSession(tenant: TenantLife, id: string, options: DeletionOptions): Promise<DeletionReceipt> {
    this.#core.assertWritable();
    assertId(id, "session id");
    const bounds = withDeadline(callOptions(options), "write");
    const call = { ...bounds, sizeBytes: STEP_BYTES };
    const keyed = keyedCall(options, this.#core.database, () => new InputDigest("deleteSession").add(id).end());
    const session = await this.#core.database.write(endSession, { tenant, id, keyed }, call);
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
    const keyed = keyedCall(options, this.#core.database, () => new InputDigest("deleteTenant").add(id).end());
    const tenant = await this.#core.database.write(endTenant, { id, keyed }, { ...bounds, sizeBytes: STEP_BYTES });
    this.#core.pipeline.forgetQueries(id);
    const deleted = tenant !== undefined;
    if (options.erase !== true) {
      this.#core.reclaimer.wake();
      return { deleted };
    }
    if (tenant !== undefined) await behindCommit(this.#untilDone(reclaimEndedTenant, tenant, bounds));
    return { deleted, erasure: await behindCommit(this.#erase(bounds)) };
  }

  #subjectOf(scope: Scope, selection: ForgetSelection, { expectedRevision }: ForgetOptions): ForgetSubject {
    if (selection.events === undefined) return { filter: this.#bind(scope, selection) };
    return { ids: [...new Set(selection.events)], expectedRevision };
  }

  async #count({ tenant, session }: Scope, subject: ForgetSubject, options: CallOptions): Promise<number> {
    const { database } = this.#core;
    if ("ids" in subject) return database.read(countKnown, { tenant, session, events: subject.ids }, options);
    return (await database.read(countForgettable, { tenant, session, filter: subject.filter }, options)).events;
  }

  /** In commits of bounded size, so that other writes go between; what is remembered meanwhile stays. */
  async #forget({ scope, subject, keyed }: Forget, options: CallOptions): Promise<number> {
    const { database } = this.#core;
    const { tenant, session } = scope;
    let progress = await this.#start({ scope, subject, keyed }, options);
    while (!progress.isDone) {
      const from = progress.steps * FORGOTTEN_PER_COMMIT;
      const ids = "ids" in subject ? subject.ids.slice(from, from + FORGOTTEN_PER_COMMIT) : [];
      const step = {
        tenant,
        session,
        subject: "ids" in subject ? { ...subject, ids } : subject,
        progress,
        isLast: "ids" in subject && from + FORGOTTEN_PER_COMMIT >= subject.ids.length,
        keyed,
      };
      const sizeBytes = STEP_BYTES + ids.length * EVENT_OVERHEAD_BYTES;
      const part = database.write(forgetStep, step, { ...options, sizeBytes });
      progress = await (progress.steps === 0 ? part : behindPart(part));
      await yieldToEventLoop();
    }
    return progress.forgotten;
  }

  /** Where an earlier call with the same key stands, or the beginning. */
  async #start({ scope, subject, keyed }: Forget, options: CallOptions): Promise<ForgetProgress> {
    const { tenant, session } = scope;
    const beginning = { steps: 0, forgotten: 0, upTo: 0, isDone: false };
    if (keyed !== undefined) {
      const owner = receiptOwner({ tenant, session });
      const found = await this.#core.database.read(readReceipt, { owner, call: keyed }, options);
      // A step says whether the life still stands.
      if (found !== undefined) return { ...(found.answer as ForgetProgress), isDone: false };
    }
    if ("ids" in subject) return beginning;
    const input = { tenant, session, filter: subject.filter };
    const { events, upTo } = await this.#core.database.read(countForgettable, input, options);
    return { ...beginning, upTo, isDone: events === 0 && keyed === undefined };
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

function assertExpected({ events }: ForgetSelection, expected: unknown): void {
  if (expected === undefined) return;
  if (!(Number.isSafeInteger(expected) && Number(expected) >= 1))
    throw invalid("expectedRevision is a whole number from 1.");
  if (events?.length !== 1) throw invalid("expectedRevision goes with one event: { events: [id] }.");
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
