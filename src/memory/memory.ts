import { formatDatetime } from "../contract/datetime.ts";
import { LIMITS } from "../contract/limits.ts";
import { assertId } from "../contract/names.ts";
import { assertOptions, assertScope, CALL_OPTIONS } from "../contract/option-names.ts";
import type { CallOptions } from "../contract/store.ts";
import { HoldfastError } from "../errors/index.ts";
import type {
  ForgetOptions,
  ForgetReceipt,
  ForgetSelection,
  Memory,
  MemoryStats,
  RecallAnswer,
  RecallOptions,
  Session,
  SessionInfo,
} from "./contract.ts";
import type { MemoryCore } from "./core.ts";
import { CREATE_SESSION_OPTIONS, FORGET_OPTIONS, LIST_SESSIONS_OPTIONS, RECALL_OPTIONS } from "./options.ts";
import { SessionHandle } from "./session.ts";
import { createSessionRow, findSessionRow, listSessionRows } from "./sessions.ts";
import { memoryStats } from "./stats.ts";
import type { TenantLife } from "./tenants.ts";

const SESSION_BYTES = 1_024;
const DEFAULT_PAGE = 100;

/** The public memory of one tenant. */
export class MemoryHandle implements Memory {
  readonly #core: MemoryCore;
  readonly #tenant: TenantLife;
  readonly #release: () => Promise<void>;
  #closing: Promise<void> | undefined;

  constructor(core: MemoryCore, tenant: TenantLife, release: () => Promise<void>) {
    this.#core = core;
    this.#tenant = tenant;
    this.#release = release;
  }

  get tenantId(): string {
    return this.#tenant.id;
  }

  async createSession(id: string, options: { readonly user?: string } & CallOptions = {}): Promise<Session> {
    const core = this.#open();
    assertOptions(options, CREATE_SESSION_OPTIONS, "createSession");
    assertScope(options, "user");
    assertId(id, "session id");
    if (options.user !== undefined) assertId(options.user, "user id");
    const input = { tenant: this.#tenant, id, user: options.user };
    const { life, created } = await core.database.write(createSessionRow, input, {
      ...options,
      sizeBytes: SESSION_BYTES,
    });
    return new SessionHandle(core, life, created);
  }

  async session(id: string): Promise<Session> {
    const session = await this.getSession(id);
    if (session !== undefined) return session;
    throw new HoldfastError("NOT_FOUND", "There is no session with this id; create it with createSession(id).", {
      details: { session: id },
    });
  }

  async getSession(id: string): Promise<Session | undefined> {
    const core = this.#open();
    assertId(id, "session id");
    const life = core.database.lookup(findSessionRow, { tenant: this.#tenant, id });
    return life && new SessionHandle(core, life, false);
  }

  async listSessions(
    options: { readonly user?: string; readonly after?: string; readonly limit?: number } & CallOptions = {},
  ): Promise<readonly SessionInfo[]> {
    const core = this.#open();
    assertOptions(options, LIST_SESSIONS_OPTIONS, "listSessions");
    assertScope(options, "user");
    const { user, after = "", limit = DEFAULT_PAGE } = options;
    if (user !== undefined) assertId(user, "user id");
    if (options.after !== undefined) assertId(after, "session id to list behind");
    if (!(Number.isInteger(limit) && limit >= 1 && limit <= LIMITS.scanPageMax)) {
      throw new HoldfastError("INVALID_ARGUMENT", `limit is a whole number from 1 to ${LIMITS.scanPageMax}.`);
    }
    const rows = await core.database.read(listSessionRows, { tenant: this.#tenant, user, after, limit }, options);
    return rows.map((row) => ({
      id: row.id,
      ...(row.user !== undefined && { user: row.user }),
      events: row.events,
      ...(row.firstAt !== undefined && { firstAt: formatDatetime(row.firstAt) }),
      ...(row.lastAt !== undefined && { lastAt: formatDatetime(row.lastAt) }),
    }));
  }

  async recall(question: string, options: RecallOptions = {}): Promise<RecallAnswer> {
    const core = this.#open();
    assertOptions(options, RECALL_OPTIONS, "recall");
    assertScope(options, "user");
    assertScope(options, "session");
    return core.recall(this.#tenant, question, options);
  }

  async forget(selection: ForgetSelection, options: ForgetOptions = {}): Promise<ForgetReceipt> {
    const core = this.#open();
    assertOptions(options, FORGET_OPTIONS, "forget");
    return core.forget(this.#tenant, selection, options);
  }

  async stats(options: CallOptions = {}): Promise<MemoryStats> {
    const { database } = this.#open();
    assertOptions(options, CALL_OPTIONS, "stats");
    const { space, dimensions, ...counts } = await database.read(memoryStats, this.#tenant, options);
    return {
      tenant: this.#tenant.id,
      ...counts,
      ...(space !== undefined && { space }),
      ...(dimensions !== undefined && { dimensions }),
      path: database.settings.path,
      threads: database.threads,
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#core.close();
    await this.#release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #open(): MemoryCore {
    this.#core.assertOpen();
    return this.#core;
  }
}
