import { assertOptions, CALL_OPTIONS, WRITE_OPTIONS } from "../contract/option-names.ts";
import type { CallOptions, WriteOptions } from "../contract/store.ts";
import { HoldfastError } from "../errors/index.ts";
import type {
  ForgetOptions,
  ForgetReceipt,
  RecallAnswer,
  RememberReceipt,
  ScopedForgetSelection,
  ScopedRecallOptions,
  Session,
} from "./contract.ts";
import type { MemoryCore } from "./core.ts";
import type {
  EventPage,
  EventRevision,
  EventUpdate,
  MemoryEvent,
  ScopedCountOptions,
  ScopedListOptions,
  UpdateOptions,
} from "./event-contract.ts";
import type { EventInput } from "./event-input.ts";
import { Events } from "./events.ts";
import type { ExportPage } from "./export-contract.ts";
import { Forgetting } from "./forgetting.ts";
import { Log } from "./log.ts";
import type {
  ChangesOptions,
  ChangesPage,
  RecentAnswer,
  RecentOptions,
  SessionSummary,
  UpdateSummaryOptions,
} from "./log-contract.ts";
import {
  CHANGES_OPTIONS,
  EMBED_PENDING_OPTIONS,
  FORGET_OPTIONS,
  PENDING_OPTIONS,
  RECENT_OPTIONS,
  SCOPED_COUNT_OPTIONS,
  SCOPED_LIST_OPTIONS,
  SCOPED_RECALL_OPTIONS,
  UPDATE_OPTIONS,
  UPDATE_SUMMARY_OPTIONS,
} from "./options.ts";
import { Pending } from "./pending.ts";
import type { EmbedPendingAnswer, EmbedPendingOptions, PendingOptions, PendingPage } from "./pending-contract.ts";
import type { SessionLife } from "./sessions.ts";

/** The public session: every call goes to the memory's core with this life. */
export class SessionHandle implements Session {
  readonly created: boolean;
  readonly #core: MemoryCore;
  readonly #life: SessionLife;
  readonly #events: Events;
  readonly #pending: Pending;

  constructor(core: MemoryCore, life: SessionLife, created: boolean) {
    this.#core = core;
    this.#life = life;
    this.#events = new Events(core, { tenant: life.tenant, session: life });
    this.#pending = new Pending(core, { tenant: life.tenant, session: life });
    this.created = created;
    if (life.user !== undefined) this.user = life.user;
  }

  readonly user?: string;

  get id(): string {
    return this.#life.id;
  }

  async remember(event: EventInput, options: WriteOptions = {}): Promise<RememberReceipt> {
    assertOptions(options, WRITE_OPTIONS, "remember");
    const [receipt] = await this.#core.remember(this.#life, [event], options);
    if (receipt === undefined) throw new HoldfastError("BUG", "An event was kept without a receipt.");
    return receipt;
  }

  async rememberMany(events: readonly EventInput[], options: WriteOptions = {}): Promise<readonly RememberReceipt[]> {
    assertOptions(options, WRITE_OPTIONS, "rememberMany");
    return this.#core.remember(this.#life, events, options);
  }

  async recall(question: string, options: ScopedRecallOptions = {}): Promise<RecallAnswer> {
    assertOptions(options, SCOPED_RECALL_OPTIONS, "recall");
    return this.#core.recall(this.#life.tenant, question, { ...options, session: this.#life.id }, this.#life);
  }

  async getEvent(id: string, options: CallOptions = {}): Promise<MemoryEvent | undefined> {
    this.#core.assertOpen();
    assertOptions(options, CALL_OPTIONS, "getEvent");
    return this.#events.get(id, options);
  }

  async changes(options: ChangesOptions = {}): Promise<ChangesPage> {
    assertOptions(options, CHANGES_OPTIONS, "changes");
    return this.#log().changes(options);
  }

  async recent(options: RecentOptions = {}): Promise<RecentAnswer> {
    assertOptions(options, RECENT_OPTIONS, "recent");
    return this.#log().recent(options);
  }

  async summary(options: CallOptions = {}): Promise<SessionSummary | undefined> {
    assertOptions(options, CALL_OPTIONS, "summary");
    return this.#log().summary(options);
  }

  async updateSummary(options: UpdateSummaryOptions = {}): Promise<SessionSummary | undefined> {
    this.#core.assertWritable();
    assertOptions(options, UPDATE_SUMMARY_OPTIONS, "updateSummary");
    return this.#log().updateSummary(options);
  }

  #log(): Log {
    this.#core.assertOpen();
    return new Log(this.#core, { tenant: this.#life.tenant, session: this.#life });
  }

  async list(options: ScopedListOptions = {}): Promise<EventPage> {
    this.#core.assertOpen();
    assertOptions(options, SCOPED_LIST_OPTIONS, "list");
    return this.#events.list(options);
  }

  async exportEvents(options: ScopedListOptions = {}): Promise<ExportPage> {
    this.#core.assertOpen();
    assertOptions(options, SCOPED_LIST_OPTIONS, "exportEvents");
    return this.#events.export(options);
  }

  async count(options: ScopedCountOptions = {}): Promise<number> {
    this.#core.assertOpen();
    assertOptions(options, SCOPED_COUNT_OPTIONS, "count");
    return this.#events.count(options);
  }

  async updateEvent(id: string, update: EventUpdate, options: UpdateOptions = {}): Promise<MemoryEvent> {
    this.#core.assertWritable();
    assertOptions(options, UPDATE_OPTIONS, "updateEvent");
    return this.#events.update(id, update, options);
  }

  async history(id: string, options: CallOptions = {}): Promise<readonly EventRevision[]> {
    this.#core.assertOpen();
    assertOptions(options, CALL_OPTIONS, "history");
    return this.#events.history(id, options);
  }

  async pendingEmbeddings(options: PendingOptions = {}): Promise<PendingPage> {
    this.#core.assertOpen();
    assertOptions(options, PENDING_OPTIONS, "pendingEmbeddings");
    return this.#pending.list(options);
  }

  async embedPending(options: EmbedPendingOptions = {}): Promise<EmbedPendingAnswer> {
    this.#core.assertWritable();
    assertOptions(options, EMBED_PENDING_OPTIONS, "embedPending");
    return this.#core.track(this.#pending.embed(options));
  }

  async forget(selection: ScopedForgetSelection, options: ForgetOptions = {}): Promise<ForgetReceipt> {
    assertOptions(options, FORGET_OPTIONS, "forget");
    const scope = { tenant: this.#life.tenant, session: this.#life };
    return new Forgetting(this.#core).forget(scope, selection, options);
  }
}
