import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { ERROR_CODES, fromWire, HoldfastError, toWire, type WireError } from "../errors/index.ts";
import { CancelFlags } from "./cancellation.ts";
import { schedule } from "./clock.ts";
import type { SentPart } from "./sent-part.ts";
import { reasonOf, refusalOf } from "./system-errors.ts";

/**
 * What travels to a worker: parts of a large input, then the call; `drop` forgets parts whose call will not come;
 * `hello` is answered as soon as the thread listens.
 */
export type WorkerRequest =
  | { readonly type: "hello"; readonly id: number }
  | { readonly type: "part"; readonly id: number; readonly part: unknown }
  | {
      readonly type: "call";
      readonly id: number;
      readonly name: string;
      readonly input: unknown;
      readonly flag: number;
      /** The last part, or the only one. */
      readonly part?: unknown;
    }
  | { readonly type: "drop"; readonly id: number };

type WorkerReply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: WireError };

export interface SentCall {
  readonly name: string;
  readonly input: unknown;
  /** From `nextId`, when parts went ahead. */
  readonly id?: number;
  /** Of the channel's cancel flags. */
  readonly flag?: number;
  readonly last?: SentPart;
}

/** What a worker of ours is started with. */
export interface WorkerStart {
  readonly port: MessagePort;
  readonly flags: SharedArrayBuffer;
  readonly role: string;
  readonly settings: unknown;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: HoldfastError) => void;
}

/**
 * The caller's end of a worker: numbered calls over one port. An idle worker does not keep the
 * process alive; a call in flight does.
 */
export class WorkerChannel {
  readonly flags: CancelFlags = new CancelFlags();
  readonly #role: string;
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #answered = false;
  #gone: HoldfastError | undefined;
  #ended: (() => void) | undefined;

  constructor(url: URL, role: string, settings: unknown, onGone: (error: HoldfastError) => void) {
    this.#role = role;
    const { port1, port2 } = new MessageChannel();
    const start: WorkerStart = { port: port2, flags: this.flags.buffer, role, settings };
    this.#port = port1;
    try {
      this.#worker = new Worker(url, {
        workerData: start,
        transferList: [port2],
        name: `holdfast-${role}`,
        ...(startedFromText() && { execArgv: [] }),
      });
    } catch (cause) {
      port1.close();
      throw notStarted(role, cause);
    }
    this.#port.on("message", (reply: WorkerReply) => {
      this.#answered = true;
      this.#settle(reply);
    });
    this.#port.unref();
    this.#worker.unref();
    this.#worker.on("error", (cause) => this.#lose(cause, onGone));
    this.#worker.on("exit", () => this.#lose(undefined, onGone));
  }

  /** Reserves a call id, so that parts can go ahead of their call. */
  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  sendPart(id: number, { part, transfer }: SentPart): void {
    this.#post({ type: "part", id, part }, transfer);
  }

  dropParts(id: number): void {
    this.#post({ type: "drop", id }, []);
  }

  /** Resolves when the thread has started and listens. */
  async started(): Promise<void> {
    await this.#request({ type: "hello", id: this.nextId() });
  }

  call({ name, input, id = this.nextId(), flag = -1, last }: SentCall): Promise<unknown> {
    const request = { type: "call", id, name, input, flag } as const;
    return last === undefined ? this.#request(request) : this.#request({ ...request, part: last.part }, last.transfer);
  }

  #request(
    request: Extract<WorkerRequest, { readonly type: "call" | "hello" }>,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<unknown> {
    const { id } = request;
    if (this.#gone !== undefined) return Promise.reject(this.#gone);
    const answer = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    if (this.#waiting.size === 1) {
      this.#port.ref();
      this.#worker.ref();
    }
    try {
      this.#post(request, transfer);
    } catch (cause) {
      this.#settle({ id, error: toWire(notSendable(cause)) });
    }
    return answer;
  }

  /**
   * Asks the worker to end by message (never inside a native call) and waits until its thread is gone. One that does
   * not come to its messages within the bound is left to end by itself: what waits for it raises CLOSED, and the
   * process lives until it has ended.
   */
  async end(withinMs?: number): Promise<void> {
    if (this.#gone !== undefined) return;
    const ended = new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
    this.#worker.ref();
    this.#port.postMessage(null);
    const stop = withinMs === undefined ? undefined : schedule(withinMs, () => this.#abandon());
    await ended;
    stop?.();
  }

  /** Ends the thread at once. Only for one that runs no native code: ending that aborts the process. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #post(request: WorkerRequest, transfer: readonly ArrayBuffer[]): void {
    this.#port.postMessage(request, [...transfer]);
  }

  #settle(reply: WorkerReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    // A thread that was asked to end is waited for, also behind the last late answer.
    if (this.#waiting.size === 0 && this.#ended === undefined) {
      this.#port.unref();
      this.#worker.unref();
    }
    if ("error" in reply) waiting?.reject(fromWire(reply.error));
    else waiting?.resolve(reply.value);
  }

  #lose(cause: unknown, onGone: (error: HoldfastError) => void): void {
    if (this.#gone !== undefined) return;
    const gone = this.#answered ? threadEnded(this.#role, cause) : notStarted(this.#role, cause);
    this.#port.close();
    this.#giveUp(gone);
    if (this.#ended !== undefined) this.#ended();
    else onGone(gone);
  }

  #abandon(): void {
    const message =
      "The handle was closed while this call was under way, and its thread does not answer; open the folder again to learn what became of it.";
    this.#giveUp(new HoldfastError("CLOSED", message, { outcome: this.#role === "writer" ? "unknown" : "none" }));
    this.#ended?.();
  }

  #giveUp(gone: HoldfastError): void {
    this.#gone = gone;
    for (const waiting of this.#waiting.values()) waiting.reject(gone);
    this.#waiting.clear();
  }
}

/** What a thread took with it: a write may have been committed before it could be answered (E10). */
function threadEnded(role: string, cause: unknown): HoldfastError {
  const isFull = (cause as { code?: unknown } | undefined)?.code === "ERR_WORKER_OUT_OF_MEMORY";
  const what = isFull
    ? "ran out of memory; give smaller batches, or the process more memory"
    : "ended by itself; its error is the cause";
  const message = `The ${role} thread ${what}. Close the handle and open the folder again.`;
  const outcome = role === "writer" ? "unknown" : "none";
  const details = isFull ? { reason: "ERR_WORKER_OUT_OF_MEMORY" } : {};
  return new HoldfastError("FAILED", message, { outcome, details, ...(cause !== undefined && { cause }) });
}

/** Why a thread did not come to its first message. An error of ours crosses with its fields, but without its class. */
function notStarted(role: string, cause: unknown): HoldfastError {
  const outcome = role === "writer" ? "not-applied" : "none";
  const { code, message, details } = (cause ?? {}) as Partial<HoldfastError>;
  if (code !== undefined && message !== undefined && Object.hasOwn(ERROR_CODES, code))
    return new HoldfastError(code, message, { outcome, cause, ...(details && { details }) });
  const refused = refusalOf(reasonOf(cause), { cause, outcome });
  if (refused !== undefined) return refused;
  const text = `The ${role} thread could not be started; its error is the cause. Close the handle and try again.`;
  return new HoldfastError("FAILED", text, { outcome, ...(cause !== undefined && { cause }) });
}

/** An input with a function or the like in it, which no message can carry: refused, and not waited for. */
function notSendable(cause: unknown): HoldfastError {
  const message = "An argument holds something that is no plain data; give texts, numbers, arrays and plain objects.";
  return new HoldfastError("INVALID_ARGUMENT", message, { cause, outcome: "not-applied" });
}

/**
 * A thread inherits the flags of its process, and Node refuses to start a file with `--input-type`, the flag of
 * `node --input-type=module -e …`. Given only then: Node refuses other flags that it lets be inherited.
 */
function startedFromText(): boolean {
  return process.execArgv.some((flag) => flag.startsWith("--input-type"));
}

/** The worker's end: answers one request. */
export function replyTo(
  port: MessagePort,
  id: number,
  answer: { readonly value: unknown } | { readonly error: unknown },
): void {
  port.postMessage("error" in answer ? { id, error: toWire(answer.error) } : { id, value: answer.value });
}
