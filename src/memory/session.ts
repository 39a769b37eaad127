import { assertOptions, CALL_OPTIONS } from "../contract/option-names.ts";
import type { CallOptions } from "../contract/store.ts";
import { HoldfastError } from "../errors/index.ts";
import type {
  ForgetOptions,
  ForgetReceipt,
  ForgetSelection,
  RecallAnswer,
  RememberReceipt,
  ScopedRecallOptions,
  Session,
} from "./contract.ts";
import type { MemoryCore } from "./core.ts";
import type { EventInput } from "./event-input.ts";
import { FORGET_OPTIONS, SCOPED_RECALL_OPTIONS } from "./options.ts";
import type { SessionLife } from "./sessions.ts";

/** The public session: every call goes to the memory's core with this life. */
export class SessionHandle implements Session {
  readonly created: boolean;
  readonly #core: MemoryCore;
  readonly #life: SessionLife;

  constructor(core: MemoryCore, life: SessionLife, created: boolean) {
    this.#core = core;
    this.#life = life;
    this.created = created;
    if (life.user !== undefined) this.user = life.user;
  }

  readonly user?: string;

  get id(): string {
    return this.#life.id;
  }

  async remember(event: EventInput, options: CallOptions = {}): Promise<RememberReceipt> {
    assertOptions(options, CALL_OPTIONS, "remember");
    const [receipt] = await this.#core.remember(this.#life, [event], options);
    if (receipt === undefined) throw new HoldfastError("BUG", "An event was kept without a receipt.");
    return receipt;
  }

  async rememberMany(events: readonly EventInput[], options: CallOptions = {}): Promise<readonly RememberReceipt[]> {
    assertOptions(options, CALL_OPTIONS, "rememberMany");
    return this.#core.remember(this.#life, events, options);
  }

  async recall(question: string, options: ScopedRecallOptions = {}): Promise<RecallAnswer> {
    assertOptions(options, SCOPED_RECALL_OPTIONS, "recall");
    return this.#core.recall(this.#life.tenant, question, { ...options, session: this.#life.id }, this.#life);
  }

  async forget(selection: ForgetSelection, options: ForgetOptions = {}): Promise<ForgetReceipt> {
    assertOptions(options, FORGET_OPTIONS, "forget");
    return this.#core.forget(this.#life.tenant, selection, options, this.#life);
  }
}
