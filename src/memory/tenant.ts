import { formatDatetime } from "../contract/datetime.ts";
import { LIMITS } from "../contract/limits.ts";
import { assertId } from "../contract/names.ts";
import { assertOptions, assertScope, CALL_OPTIONS } from "../contract/option-names.ts";
import type { CallOptions, WriteOptions } from "../contract/store.ts";
import { HoldfastError } from "../errors/index.ts";
import { InputDigest } from "../registry/input-digest.ts";
import { keyedCall } from "../registry/keyed-call.ts";
import type {
  DeletionOptions,
  DeletionReceipt,
  ForgetOptions,
  ForgetReceipt,
  ForgetSelection,
  MemoryStats,
  RecallAnswer,
  RecallOptions,
  Session,
  SessionInfo,
  Tenant,
} from "./contract.ts";
import type { MemoryCore } from "./core.ts";
import type {
  CountOptions,
  EventPage,
  EventRevision,
  EventUpdate,
  ListOptions,
  MemoryEvent,
  UpdateOptions,
} from "./event-contract.ts";
import { Events } from "./events.ts";
import type { ExportPage } from "./export-contract.ts";
import { Forgetting } from "./forgetting.ts";
import { Log } from "./log.ts";
import type { ChangesOptions, ChangesPage } from "./log-contract.ts";
import {
  CHANGES_OPTIONS,
  COUNT_OPTIONS,
  CREATE_SESSION_OPTIONS,
  DELETION_OPTIONS,
  EMBED_PENDING_OPTIONS,
  FORGET_OPTIONS,
  LIST_OPTIONS,
  LIST_SESSIONS_OPTIONS,
  PENDING_OPTIONS,
  RECALL_OPTIONS,
  UPDATE_OPTIONS,
} from "./options.ts";
import { Pending } from "./pending.ts";
import type { EmbedPendingAnswer, EmbedPendingOptions, PendingOptions, PendingPage } from "./pending-contract.ts";
import { SessionHandle } from "./session.ts";
import { createSessionRow, findSessionRow, listSessionRows, unknownSession } from "./sessions.ts";
import { memoryStats } from "./stats.ts";
import type { TenantLife } from "./tenants.ts";

const SESSION_BYTES = 1_024;
const DEFAULT_PAGE = 100;

/** The public memory of one tenant: checks arguments and calls what does the work. */
export class TenantHandle implements Tenant {
  protected readonly core: MemoryCore;
  protected readonly life: TenantLife;
  readonly #events: Events;
  readonly #forgetting: Forgetting;
  readonly #pending: Pending;

  constructor(core: MemoryCore, life: TenantLife) {
    this.core = core;
    this.life = life;
    this.#events = new Events(core, { tenant: life });
    this.#forgetting = new Forgetting(core);
    this.#pending = new Pending(core, { tenant: life });
  }

  get tenantId(): string {
    return this.life.id;
  }

  async createSession(id: string, options: { readonly user?: string } & WriteOptions = {}): Promise<Session> {
    this.core.assertWritable();
    assertOptions(options, CREATE_SESSION_OPTIONS, "createSession");
    assertScope(options, "user");
    assertId(id, "session id");
    if (options.user !== undefined) assertId(options.user, "user id");
    const digest = (): string => new InputDigest("createSession").add([id, options.user]).end();
    const keyed = keyedCall(options, this.core.database, digest);
    const input = { tenant: this.life, id, user: options.user, keyed };
    for (;;) {
      const answer = await this.core.database.write(createSessionRow, input, { ...options, sizeBytes: SESSION_BYTES });
      if ("life" in answer) return new SessionHandle(this.core, answer.life, answer.created);
      await this.#forgetting.finishSession(answer.ending, options);
    }
  }

  async session(id: string): Promise<Session> {
    const session = await this.getSession(id);
    if (session !== undefined) return session;
    throw unknownSession(id);
  }

  async getSession(id: string): Promise<Session | undefined> {
    this.core.assertOpen();
    assertId(id, "session id");
    const life = this.core.database.lookup(findSessionRow, { tenant: this.life, id });
    return life && new SessionHandle(this.core, life, false);
  }

  async listSessions(
    options: { readonly user?: string; readonly after?: string; readonly limit?: number } & CallOptions = {},
  ): Promise<readonly SessionInfo[]> {
    this.core.assertOpen();
    assertOptions(options, LIST_SESSIONS_OPTIONS, "listSessions");
    assertScope(options, "user");
    const { user, after = "", limit = DEFAULT_PAGE, ...call } = options;
    if (user !== undefined) assertId(user, "user id");
    if (options.after !== undefined) assertId(after, "session id to list behind");
    assertPageSize(limit);
    const rows = await this.core.database.read(listSessionRows, { tenant: this.life, user, after, limit }, call);
    return rows.map((row) => ({
      id: row.id,
      ...(row.user !== undefined && { user: row.user }),
      events: row.events,
      ...(row.firstAt !== undefined && { firstAt: formatDatetime(row.firstAt) }),
      ...(row.lastAt !== undefined && { lastAt: formatDatetime(row.lastAt) }),
    }));
  }

  async deleteSession(id: string, options: DeletionOptions = {}): Promise<DeletionReceipt> {
    assertOptions(options, DELETION_OPTIONS, "deleteSession");
    return this.#forgetting.deleteSession(this.life, id, options);
  }

  async recall(question: string, options: RecallOptions = {}): Promise<RecallAnswer> {
    this.core.assertOpen();
    assertOptions(options, RECALL_OPTIONS, "recall");
    assertScope(options, "user");
    assertScope(options, "session");
    return this.core.recall(this.life, question, options);
  }

  async getEvent(id: string, options: CallOptions = {}): Promise<MemoryEvent | undefined> {
    this.core.assertOpen();
    assertOptions(options, CALL_OPTIONS, "getEvent");
    return this.#events.get(id, options);
  }

  async list(options: ListOptions = {}): Promise<EventPage> {
    this.core.assertOpen();
    assertOptions(options, LIST_OPTIONS, "list");
    assertScope(options, "user");
    assertScope(options, "session");
    return this.#events.list(options);
  }

  async exportEvents(options: ListOptions = {}): Promise<ExportPage> {
    this.core.assertOpen();
    assertOptions(options, LIST_OPTIONS, "exportEvents");
    assertScope(options, "user");
    assertScope(options, "session");
    return this.#events.export(options);
  }

  async count(options: CountOptions = {}): Promise<number> {
    this.core.assertOpen();
    assertOptions(options, COUNT_OPTIONS, "count");
    assertScope(options, "user");
    assertScope(options, "session");
    return this.#events.count(options);
  }

  async updateEvent(id: string, update: EventUpdate, options: UpdateOptions = {}): Promise<MemoryEvent> {
    this.core.assertWritable();
    assertOptions(options, UPDATE_OPTIONS, "updateEvent");
    return this.#events.update(id, update, options);
  }

  async history(id: string, options: CallOptions = {}): Promise<readonly EventRevision[]> {
    this.core.assertOpen();
    assertOptions(options, CALL_OPTIONS, "history");
    return this.#events.history(id, options);
  }

  async forget(selection: ForgetSelection, options: ForgetOptions = {}): Promise<ForgetReceipt> {
    assertOptions(options, FORGET_OPTIONS, "forget");
    return this.#forgetting.forget({ tenant: this.life }, selection, options);
  }

  async changes(options: ChangesOptions = {}): Promise<ChangesPage> {
    this.core.assertOpen();
    assertOptions(options, CHANGES_OPTIONS, "changes");
    return new Log(this.core, { tenant: this.life }).changes(options);
  }

  async pendingEmbeddings(options: PendingOptions = {}): Promise<PendingPage> {
    this.core.assertOpen();
    assertOptions(options, PENDING_OPTIONS, "pendingEmbeddings");
    return this.#pending.list(options);
  }

  async embedPending(options: EmbedPendingOptions = {}): Promise<EmbedPendingAnswer> {
    this.core.assertWritable();
    assertOptions(options, EMBED_PENDING_OPTIONS, "embedPending");
    return this.core.track(this.#pending.embed(options));
  }

  async stats(options: CallOptions = {}): Promise<MemoryStats> {
    this.core.assertOpen();
    assertOptions(options, CALL_OPTIONS, "stats");
    const { database } = this.core;
    const { space, dimensions, ...counts } = await database.read(memoryStats, this.life, options);
    return {
      tenant: this.life.id,
      ...counts,
      ...(space !== undefined && { space }),
      ...(dimensions !== undefined && { dimensions }),
      path: database.settings.path,
      threads: database.threads,
    };
  }
}

export function assertPageSize(limit: unknown): void {
  if (Number.isInteger(limit) && Number(limit) >= 1 && Number(limit) <= LIMITS.scanPageMax) return;
  throw new HoldfastError("INVALID_ARGUMENT", `limit is a whole number from 1 to ${LIMITS.scanPageMax}.`);
}
