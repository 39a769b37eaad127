import { HoldfastError, isHoldfastError } from "../../errors/index.ts";
import type { Session, Tenant } from "../../index.ts";
import type { EventLine } from "./event-line.ts";

export interface NumberedEvent extends EventLine {
  readonly number: number;
  /** Bytes of its line. */
  readonly lineBytes: number;
  /** Roughly what it holds in memory. */
  readonly sizeBytes: number;
}

export interface ImportCounts {
  readonly remembered: number;
  readonly present: number;
  /** Of the remembered ones, those that the embedder failed for: found by words, and by meaning later. */
  readonly pending: number;
}

export interface ImporterOptions {
  readonly signal: AbortSignal;
  /** Called for each event that the memory refuses. */
  readonly onInvalid: (number: number, error: HoldfastError) => Promise<void>;
  /** Called after each commit with the bytes of its lines. */
  readonly onCommit: (lineBytes: number) => void;
}

/** One commit: large enough that its sync costs little beside embedding, small enough to lose little when killed. */
const EVENTS_PER_COMMIT = 32;
/** Lines of many sessions in turn wait until one of them fills a commit, within these bounds. */
const EVENTS_WAITING_MAX = 256;
const BYTES_WAITING_MAX = 4 * 1024 * 1024;

/** Remembers events in commits of one session each. What the memory refuses costs its neighbours nothing. */
export class Importer {
  readonly #memory: Tenant;
  readonly #options: ImporterOptions;
  /** By session and user, in the order of their first line. */
  readonly #waiting = new Map<string, NumberedEvent[]>();
  #eventsWaiting = 0;
  #bytesWaiting = 0;
  #remembered = 0;
  #present = 0;
  #pending = 0;

  constructor(memory: Tenant, options: ImporterOptions) {
    this.#memory = memory;
    this.#options = options;
  }

  get counts(): ImportCounts {
    return { remembered: this.#remembered, present: this.#present, pending: this.#pending };
  }

  async add(event: NumberedEvent): Promise<void> {
    const key = JSON.stringify([event.session, event.user]);
    const group = this.#waiting.get(key) ?? [];
    this.#waiting.set(key, group);
    group.push(event);
    this.#eventsWaiting += 1;
    this.#bytesWaiting += event.sizeBytes;
    if (this.#eventsWaiting >= EVENTS_WAITING_MAX || this.#bytesWaiting >= BYTES_WAITING_MAX) await this.flush();
    else if (group.length >= EVENTS_PER_COMMIT) await this.#flushGroup(key, group);
  }

  /** Remembers all that waits. */
  async flush(): Promise<void> {
    for (const [key, group] of [...this.#waiting]) await this.#flushGroup(key, group);
  }

  async #flushGroup(key: string, group: readonly NumberedEvent[]): Promise<void> {
    this.#waiting.delete(key);
    this.#eventsWaiting -= group.length;
    this.#bytesWaiting -= group.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    for (const events of commitsOf(group)) await this.#commit(events);
  }

  async #commit(events: readonly NumberedEvent[]): Promise<void> {
    try {
      await this.#remember(events);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const [only] = events;
      if (events.length === 1 && only !== undefined) await this.#options.onInvalid(only.number, error);
      else for (const event of events) await this.#commit([event]);
    }
  }

  async #remember(events: readonly NumberedEvent[]): Promise<void> {
    const [first] = events;
    if (first === undefined) return;
    const session = await this.#session(first);
    const inputs = events.map(({ event }) => event);
    const receipts = await session.rememberMany(inputs, { signal: this.#options.signal });
    const created = receipts.filter((receipt) => receipt.created).length;
    this.#remembered += created;
    this.#present += receipts.length - created;
    this.#pending += receipts.filter(({ embedded }) => embedded === "pending").length;
    this.#options.onCommit(events.reduce((sum, { lineBytes }) => sum + lineBytes, 0));
  }

  /** Made when missing. A line that names no user goes into the session that stands, whoever's it is. */
  async #session({ session: id, user }: EventLine): Promise<Session> {
    const found = await this.#memory.getSession(id);
    const { signal } = this.#options;
    const session = found ?? (await this.#memory.createSession(id, { signal, ...(user !== undefined && { user }) }));
    if (user === undefined || session.user === user) return session;
    throw new HoldfastError("ALREADY_EXISTS", "The session exists with another user; correct the user or the session.");
  }
}

/** At most as many events and bytes as one commit should hold; a larger event has one of its own. */
function commitsOf(group: readonly NumberedEvent[]): readonly (readonly NumberedEvent[])[] {
  const commits: NumberedEvent[][] = [];
  let bytes = BYTES_WAITING_MAX;
  for (const event of group) {
    const last = commits.at(-1);
    bytes += event.sizeBytes;
    if (last === undefined || last.length >= EVENTS_PER_COMMIT || bytes > BYTES_WAITING_MAX) {
      commits.push([event]);
      bytes = event.sizeBytes;
    } else {
      last.push(event);
    }
  }
  return commits;
}

/** What is wrong with an event, as opposed to with the memory or the machine. */
function isRefusal(error: unknown): error is HoldfastError {
  return isHoldfastError(error) && (error.group === "input" || error.group === "conflict");
}
