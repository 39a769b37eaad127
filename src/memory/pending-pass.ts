import type { Database } from "../database/database.ts";
import { failureReason } from "../embedding/failure-reason.ts";
import { HoldfastError, isHoldfastError } from "../errors/index.ts";
import { anySignal } from "../io/signals.ts";
import type { NewEvent, StoredEvent } from "../segments/sqlite/events.ts";
import { type SettleInput, settlePending } from "./pending-commit.ts";
import { type PendingSegment, type PendingSelection, readPendingWindow } from "./pending-rows.ts";
import { type Pipeline, packVectors } from "./pipeline.ts";
import type { EmbeddedSegment, UnembeddedSegment } from "./segment-embedding.ts";

/** Segments embedded before they are committed: what a crash may make paid for twice. */
export const WINDOW_SEGMENTS = 32;

/** A whole window, several calls and a probe, within the lease. */
const WINDOW_MS = 60_000;

/** Texts that fail alone before a service is taken to be down. */
const GIVE_UP_AFTER = 3;

/** Bytes of an outcome in the writer's queue beside its vectors. */
const OUTCOME_BYTES = 256;

export interface PassResult {
  readonly embedded: number;
  /** The service's own: the pass ended there. */
  readonly failure?: HoldfastError;
}

type Outcomes = Pick<SettleInput, "embedded" | "failed" | "recut"> & { readonly failure?: HoldfastError };

/** Goes through pending segments once, window by window: embed, then commit. */
export class PendingPass {
  readonly #database: Database;
  readonly #pipeline: Pipeline;
  readonly #holder: string;
  #window = WINDOW_SEGMENTS;

  constructor(database: Database, pipeline: Pipeline, holder: string) {
    this.#database = database;
    this.#pipeline = pipeline;
    this.#holder = holder;
  }

  /** @throws ABORTED, TIMEOUT, and what the database raises */
  async run(
    selection: PendingSelection,
    signal: AbortSignal,
    onCommit: (embedded: number) => void = () => undefined,
  ): Promise<PassResult> {
    let embedded = 0;
    for (let after = 0; ; ) {
      const input = { ...selection, after, limit: this.#window };
      const segments = await this.#database.read(readPendingWindow, input, { signal });
      const last = segments.at(-1);
      if (last === undefined) return { embedded };
      after = last.segment;
      const { failure, ...outcomes } = await this.#embed(segments, signal);
      const sizeBytes = outcomes.embedded.reduce((sum, { vectors }) => sum + vectors.byteLength + OUTCOME_BYTES, 0);
      const parts = outcomes.recut.reduce(
        (sum, { part }) => sum + part.vectors.byteLength + part.event.text.length * 2,
        0,
      );
      const settled = { space: this.#pipeline.identity, holder: this.#holder, ...outcomes };
      const done = await this.#database.write(settlePending, settled, {
        sizeBytes: sizeBytes + parts + outcomes.failed.length * OUTCOME_BYTES,
      });
      embedded += done.embedded;
      onCommit(embedded);
      if (failure !== undefined) return { embedded, failure };
    }
  }

  async #embed(segments: readonly PendingSegment[], signal: AbortSignal): Promise<Outcomes> {
    const bound = AbortSignal.timeout(WINDOW_MS);
    try {
      const outcomes = await this.#embedWindow(segments, anySignal([signal, bound]));
      this.#resize(outcomes.failure === undefined);
      return outcomes;
    } catch (error) {
      if (signal.aborted || !isHoldfastError(error) || error.group !== "abort") throw error;
      this.#resize(false);
      const failure = new HoldfastError("EMBEDDING_FAILED", `The embedder did not answer within ${WINDOW_MS} ms.`, {
        cause: error,
        operation: "embed",
      });
      return allFailed(segments, failure);
    }
  }

  /** An embedder that failed may be slow: it gets less at once, until it answers. */
  #resize(answered: boolean): void {
    this.#window = answered ? Math.min(this.#window * 2, WINDOW_SEGMENTS) : Math.max(1, this.#window >> 2);
  }

  async #embedWindow(segments: readonly PendingSegment[], signal: AbortSignal): Promise<Outcomes> {
    const unopened = await this.#pipeline.open(signal);
    if (unopened !== undefined) return allFailed(segments, unopened);
    const recut = new Map<StoredEvent, number>();
    const items: { readonly segment: number; readonly event: StoredEvent; readonly item: UnembeddedSegment }[] = [];
    const failed: SettleInput["failed"][number][] = [];
    for (const { segment, event, range } of segments) {
      if (event === "damaged") {
        failed.push({ segment, reason: "DAMAGED", byText: true });
        continue;
      }
      const item = { event: toNewEvent(event), range };
      if (this.#pipeline.isOverWindow(item)) recut.set(event, segment);
      else items.push({ segment, event, item });
    }
    // Of an event that is cut anew, every segment is.
    const kept = items.filter(({ event }) => !recut.has(event));
    const outcomes = await this.#withEvidence(
      kept.map(({ item }) => item),
      signal,
    );
    const embedded: SettleInput["embedded"][number][] = [];
    let failure: HoldfastError | undefined;
    for (const [index, outcome] of outcomes.entries()) {
      const segment = kept[index]?.segment ?? 0;
      if ("vectors" in outcome) {
        const vectors = packVectors(outcome.vectors, this.#pipeline.identity.dimensions);
        embedded.push({ segment, count: outcome.vectors.length, vectors });
      } else {
        if (outcome.about === "service") failure ??= outcome.error;
        failed.push({ segment, reason: failureReason(outcome.error), byText: outcome.about === "text" });
      }
    }
    if (failure !== undefined) return { embedded, failed, recut: [], failure };
    return { embedded, failed, recut: await this.#recut(recut, failed, signal) };
  }

  /**
   * Tells a poison text from a service that is down: where nothing of a window was embedded, a text that no model
   * refuses is sent. Only when that is embedded did the texts fail by themselves.
   */
  async #withEvidence(items: readonly UnembeddedSegment[], signal: AbortSignal): Promise<readonly EmbeddedSegment[]> {
    const first = await this.#pipeline.embedSegments(items, { kind: "document", signal, giveUpAfter: GIVE_UP_AFTER });
    const isOpen = first.some(isUndecided);
    if (!isOpen) return first;
    const isUp = first.some((outcome) => "vectors" in outcome) || (await this.#pipeline.answers(signal));
    if (!isUp) return first.map((outcome) => (isUndecided(outcome) ? { ...outcome, about: "service" } : outcome));
    // Some may have been given up without being sent.
    const again = items.filter((_, index) => isUndecided(first[index]));
    const second = await this.#pipeline.embedSegments(again, { kind: "document", signal });
    let next = 0;
    return first.map((outcome) => {
      if (!isUndecided(outcome)) return outcome;
      const repeated = second[next++] ?? outcome;
      return isUndecided(repeated) ? { ...repeated, about: "text" } : repeated;
    });
  }

  async #recut(
    events: ReadonlyMap<StoredEvent, number>,
    failed: SettleInput["failed"][number][],
    signal: AbortSignal,
  ): Promise<SettleInput["recut"]> {
    const recut: SettleInput["recut"][number][] = [];
    for (const [event, segment] of events) {
      try {
        const [part] = await this.#pipeline.toParts([toNewEvent(event)], { signal });
        if (part !== undefined) recut.push({ segment, part });
      } catch (error) {
        // A segmenter or derivation of the caller's that fails on one text stops no other.
        if (!isHoldfastError(error, "INVALID_ARGUMENT")) throw error;
        failed.push({ segment, reason: failureReason(error), byText: true });
      }
    }
    return recut;
  }
}

function isUndecided(outcome: EmbeddedSegment | undefined): outcome is Extract<EmbeddedSegment, { error: unknown }> {
  return outcome !== undefined && "error" in outcome && outcome.about === "either";
}

function allFailed(segments: readonly PendingSegment[], failure: HoldfastError): Outcomes {
  const reason = failureReason(failure);
  return {
    embedded: [],
    failed: segments.map(({ segment }) => ({ segment, reason, byText: false })),
    recut: [],
    failure,
  };
}

function toNewEvent(event: StoredEvent): NewEvent {
  return { ...event, atGiven: true };
}
