import { Reclaimer } from "../backends/embedded/reclaimer.ts";
import { LIMITS } from "../contract/limits.ts";
import type { WriteOptions } from "../contract/store.ts";
import { assertWellFormed } from "../contract/text.ts";
import { beforeCommit, withDeadline } from "../database/call.ts";
import { CLOSE_WAIT_MS, type Database, settledWithin } from "../database/database.ts";
import { readEpoch } from "../database/folder-operations.ts";
import { HoldfastError } from "../errors/index.ts";
import { type Clock, giveWay } from "../io/clock.ts";
import { InputDigest } from "../registry/input-digest.ts";
import { keyedCall } from "../registry/keyed-call.ts";
import type { Reranker } from "../reranking/reranker.ts";
import { questionWords } from "../segments/question-words.ts";
import type { NewEvent } from "../segments/sqlite/events.ts";
import { tokeniseWords } from "../segments/words.ts";
import { assertArray, assertCount } from "../store/batch.ts";
import type { RecallAnswer, RecallOptions, RememberReceipt } from "./contract.ts";
import { DeclaredFiller } from "./declared-fill.ts";
import { EmbeddingRetrier } from "./embedding-retrier.ts";
import { type EventInput, toEvent } from "./event-input.ts";
import { RANKING } from "./fusion.ts";
import type { Summarise } from "./log-contract.ts";
import type { Pipeline } from "./pipeline.ts";
import { recallSegments } from "./recall.ts";
import { toHit } from "./recall-hit.ts";
import { toRecallRequest } from "./recall-request.ts";
import { hasReclaimable, reclaimMemory } from "./reclaim.ts";
import { assertSameEvent, knownEvents, rememberEvents } from "./remember.ts";
import { requireReranker, rerankHits } from "./rerank.ts";
import { findSessionRow, requireLiveSession, type SessionLife, unknownSession } from "./sessions.ts";
import type { TenantLife } from "./tenants.ts";

/** Bytes that an event holds in the queue beside its text and vectors. */
export const EVENT_OVERHEAD_BYTES = 512;

/** What comes from outside beside the database and the embedder. */
export interface MemoryHooks {
  readonly clock: Clock;
  readonly summarise: Summarise | undefined;
  readonly reranker: Reranker | undefined;
}

/** What a memory does for every tenant and session of one folder. */
export class MemoryCore {
  readonly database: Database;
  /** Of the folder; new when it is restored. */
  readonly epoch: string;
  readonly pipeline: Pipeline;
  readonly reclaimer: Reclaimer;
  readonly summarise: Summarise | undefined;
  readonly retrier: EmbeddingRetrier;
  readonly filler: DeclaredFiller;
  readonly #reranker: Reranker | undefined;
  readonly clock: Clock;
  readonly #inFlight = new Set<Promise<unknown>>();
  #closed = false;
  /** Whoever still embeds has waited too long and writes nothing any more. */
  #abandoned = false;

  constructor(database: Database, pipeline: Pipeline, { clock, summarise, reranker }: MemoryHooks) {
    this.database = database;
    this.pipeline = pipeline;
    this.clock = clock;
    this.summarise = summarise;
    this.#reranker = reranker;
    this.epoch = database.lookup(readEpoch, null);
    this.reclaimer = new Reclaimer(database, [reclaimMemory]);
    this.retrier = new EmbeddingRetrier(database, pipeline, clock);
    this.filler = new DeclaredFiller(database);
    if (!database.settings.readOnly) this.#wake();
  }

  /** Begins what was left undone. */
  #wake(): void {
    if (this.database.lookup(hasReclaimable, null)) this.reclaimer.wake();
    this.retrier.wake();
    this.filler.wake();
  }

  /** Raises CLOSED: also when the folder itself is still open, by another handle of this process. */
  assertOpen(): void {
    if (!this.#closed) return;
    throw new HoldfastError("CLOSED", "The memory was closed; open it again.", { outcome: "not-applied" });
  }

  /** The first line of every call that changes something: raises CLOSED, or READ_ONLY before anything is paid for. */
  assertWritable(): void {
    this.assertOpen();
    this.database.assertWritable();
  }

  /** Raises CLOSED behind an embedding that outlasted the close: nothing is written any more. */
  assertWanted(): void {
    if (this.#abandoned) this.assertOpen();
  }

  /** Takes no more calls and waits for those that still embed, at most 10 s: their commits are yet to come (E12). */
  async close(): Promise<void> {
    this.#closed = true;
    await settledWithin(
      [...this.#inFlight, this.reclaimer.stop(), this.retrier.stop(), this.filler.stop()],
      CLOSE_WAIT_MS,
    );
    this.#abandoned = true;
  }

  /** A call that closing waits for. */
  track<T>(call: Promise<T>): Promise<T> {
    this.#inFlight.add(call);
    const done = (): void => {
      this.#inFlight.delete(call);
    };
    call.then(done, done);
    return call;
  }

  remember(
    session: SessionLife,
    inputs: readonly EventInput[],
    options: WriteOptions,
  ): Promise<readonly RememberReceipt[]> {
    this.assertWritable();
    const { idempotencyKey, ...bounds } = options;
    const call = { ...withDeadline(bounds, "write"), ...(idempotencyKey !== undefined && { idempotencyKey }) };
    return this.track(beforeCommit(this.#remember(session, inputs, call)));
  }

  async #remember(
    session: SessionLife,
    inputs: readonly EventInput[],
    options: WriteOptions,
  ): Promise<readonly RememberReceipt[]> {
    assertArray(inputs, "events");
    assertCount(inputs.length, LIMITS.recordsPerBatchMax, "events of one call");
    const events: NewEvent[] = [];
    for (const input of inputs) {
      events.push(toEvent(input, this.clock));
      await giveWay();
    }
    assertDistinct(events.map(({ id }) => id));
    const space = this.pipeline.identity;
    const keyed = keyedCall(options, this.database, () => digestOfCall(inputs, events));
    const ids = events.map(({ id }) => id);
    const { receipts: earlier, known } = await this.database.read(
      knownEvents,
      { session, events: ids, space, keyed },
      options,
    );
    if (earlier !== undefined) return earlier;
    const fresh = events.filter((event, index) => {
      const stored = known[index];
      if (stored !== undefined) assertSameEvent(event, session, stored);
      return stored === undefined;
    });
    if (fresh.length === 0 && keyed === undefined) {
      const embedded = (index: number) => (known[index]?.pending === true ? "pending" : "embedded");
      return ids.map((id, index) => ({ id, created: false, embedded: embedded(index) }));
    }
    const parts = fresh.length === 0 ? [] : await this.pipeline.toParts(fresh, options);
    this.assertWanted();
    const sizeBytes = parts.reduce(
      (sum, part) => sum + part.vectors.byteLength + part.event.text.length * 2 + EVENT_OVERHEAD_BYTES,
      EVENT_OVERHEAD_BYTES,
    );
    const input = { session, space, ids, parts, keyed };
    const receipts = await this.database.write(rememberEvents, input, { ...options, sizeBytes });
    if (receipts.some(({ embedded }) => embedded === "pending")) this.retrier.wake();
    return receipts;
  }

  async recall(
    tenant: TenantLife,
    question: string,
    options: RecallOptions,
    session?: SessionLife,
  ): Promise<RecallAnswer> {
    this.assertOpen();
    this.database.assertOpen();
    assertQuestion(question);
    const request = toRecallRequest(options);
    const reranker = request.candidates === undefined ? undefined : requireReranker(this.#reranker);
    if (session !== undefined) this.database.lookup(requireLiveSession, session);
    else if (options.session !== undefined) this.requireKnownSession(tenant, options.session);
    const bounds = withDeadline(request.bounds, "read");
    const began = this.clock.monotonicMs();
    const embedded = request.channels.vector
      ? await this.pipeline.embedQuery(tenant.id, question, { ...bounds, wait: options.waitForModel })
      : ({ withoutVector: "not-embedded" } as const);
    const embedding = Math.round((this.clock.monotonicMs() - began) * 100) / 100;
    const words = questionWords(question);
    const { identity } = this.pipeline.identity;
    const input = {
      tenant,
      session,
      ...request.search,
      channels: request.channels,
      words,
      allWords: tokeniseWords(question),
      identity,
      vector: "vector" in embedded ? embedded.vector : undefined,
      withoutVector: "vector" in embedded ? ("not-embedded" as const) : embedded.withoutVector,
    };
    const { segments, explanation, ...answer } = await this.database.read(recallSegments, input, bounds);
    const explain = options.explain === true;
    const { milliseconds, ...plan } = explanation;
    const hits = segments.map((segment) => toHit(segment, explain));
    const { candidates = 0 } = request;
    const reranked = reranker && (await rerankHits(reranker, hits, { question, candidates, signal: bounds.signal }));
    return {
      hits: (reranked?.hits ?? hits).slice(0, request.limit),
      ranking: RANKING,
      ...answer,
      ...(reranked && { reranking: reranked.reranking }),
      ...(explain && { explanation: { words, ...plan, milliseconds: { embedding, ...milliseconds } } }),
    };
  }

  /** Asking an unknown session is an error, never an empty answer (S1). */
  requireKnownSession(tenant: TenantLife, id: string): void {
    if (this.database.lookup(findSessionRow, { tenant, id }) !== undefined) return;
    throw unknownSession(id);
  }
}

/** Of what the caller gave: ids and times that were filled in are other ones with each try. */
function digestOfCall(inputs: readonly EventInput[], events: readonly NewEvent[]): string {
  const digest = new InputDigest("remember");
  for (const [index, { id, at, atGiven, digest: content }] of events.entries())
    digest.add([inputs[index]?.id === undefined ? null : id, atGiven ? at : null, content]);
  return digest.end();
}

function assertDistinct(ids: readonly string[]): void {
  const seen = new Set<string>();
  for (const id of ids) {
    if (seen.has(id))
      throw new HoldfastError("DUPLICATE_RECORD_ID", "One call names an event id twice.", { details: { id } });
    seen.add(id);
  }
}

function assertQuestion(question: unknown): asserts question is string {
  if (typeof question !== "string" || question.trim().length === 0)
    throw new HoldfastError("INVALID_TEXT", "Ask with a text that is not empty.");
  assertWellFormed(question, "question");
}
