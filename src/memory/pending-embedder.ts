import type { CallOptions } from "../contract/store.ts";
import type { Database } from "../database/database.ts";
import { isAboutTexts } from "../embedding/failure-cause.ts";
import type { Embedded } from "../embedding/vector-checks.ts";
import { schedule, systemClock } from "../io/clock.ts";
import { randomFraction } from "../io/ids.ts";
import type { SegmentRange } from "../segments/sqlite/segments.ts";
import { hasPending } from "./pending.ts";
import {
  type ClaimedEvent,
  type ClaimInput,
  type ClaimOutput,
  claimPending,
  type SettledEvent,
  type SettledSegment,
  type SettleOutput,
  settlePending,
} from "./pending-claims.ts";
import type { Pipeline } from "./pipeline.ts";

/** Events that are embedded and committed at once. */
const EVENTS_PER_STEP = 32;

/** The longest time between two looks at what waits: another process may have left it. */
const LOOK_AGAIN_MS = 60_000;

const STEP_BYTES = 64 * 1024;

export interface PendingProgress {
  readonly embedded: number;
  readonly failed: number;
  readonly parked: number;
}

/** Gives segments that an embedder failed for their vectors, beside the traffic (S7). */
export class PendingEmbedder {
  readonly #database: Database;
  readonly #pipeline: Pipeline;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(database: Database, pipeline: Pipeline) {
    this.#database = database;
    this.#pipeline = pipeline;
    if (database.lookup(hasPending, null)) this.wake(0);
  }

  /** Looks after `delayMs` at what is due; keeps no process alive. */
  wake(delayMs: number): void {
    if (this.#stopping.signal.aborted) return;
    this.#cancelTimer?.();
    this.#cancelTimer = schedule(delayMs, () => {
      this.#cancelTimer = undefined;
      this.#running ??= this.#run();
    });
  }

  /** Ends what is under way; what it had claimed is tried again later. */
  async stop(): Promise<void> {
    this.#cancelTimer?.();
    this.#stopping.abort();
    await this.#running;
  }

  /** Tries everything that waits now, parked segments too, each once. */
  async drain(options: CallOptions, onProgress: (progress: PendingProgress) => void): Promise<PendingProgress> {
    const total = { embedded: 0, failed: 0, parked: 0 };
    for (let after = 0; ; ) {
      const { events, last } = await this.#claim({ all: true, after }, options);
      if (last === undefined) return total;
      after = last;
      const counts = await this.#embed(events, options);
      total.embedded += counts.embedded;
      total.failed += counts.failed;
      total.parked += counts.parked;
      onProgress({ ...total });
    }
  }

  async #run(): Promise<void> {
    let nextMs: number | undefined;
    const options = { signal: this.#stopping.signal };
    try {
      for (;;) {
        const { events, last, nextAt } = await this.#claim({ all: false, after: 0 }, options);
        if (last === undefined) {
          nextMs = nextAt === undefined ? undefined : Math.max(0, nextAt - systemClock.nowMicros() / 1_000);
          break;
        }
        await this.#embed(events, options);
      }
    } catch {
      // Whatever stops a step leaves its segments waiting; closing ends here too.
      nextMs = LOOK_AGAIN_MS;
    } finally {
      this.#running = undefined;
    }
    if (nextMs !== undefined) this.wake(Math.min(nextMs, LOOK_AGAIN_MS) * (1 + randomFraction() / 4));
  }

  #claim(which: Pick<ClaimInput, "all" | "after">, options: CallOptions): Promise<ClaimOutput> {
    const input = { limit: EVENTS_PER_STEP, ...which };
    return this.#database.write(claimPending, input, { ...options, sizeBytes: STEP_BYTES });
  }

  async #embed(claimed: readonly ClaimedEvent[], options: CallOptions): Promise<SettleOutput> {
    const cuts = await this.#cut(claimed, options);
    const texts = cuts.flatMap(({ event, ranges, wanted }) =>
      wanted.map((index) => this.#pipeline.derive(event.event, ranges[index] ?? { start: 0, end: 0 })),
    );
    const outcomes = await this.#pipeline.embed(texts, options);
    const works = await this.#works(outcomes, options);
    let next = 0;
    const events = cuts.map(({ event, recut, wanted }): SettledEvent => {
      const segments = new Map<number, SettledSegment>();
      for (const index of wanted) {
        const outcome = outcomes[next];
        next += 1;
        if (outcome !== undefined) segments.set(index, toSettled(outcome, works));
      }
      return { tenant: event.tenant, event: { ...event.event, atGiven: true }, recut, segments };
    });
    const sizeBytes = STEP_BYTES + texts.length * this.#pipeline.identity.dimensions * 4;
    const input = { space: this.#pipeline.identity, events };
    return this.#database.write(settlePending, input, { ...options, sizeBytes });
  }

  /** Segments that were cut while tokens could not be counted are cut anew. */
  async #cut(claimed: readonly ClaimedEvent[], options: CallOptions): Promise<readonly Cut[]> {
    const cuts: Cut[] = [];
    for (const event of claimed) {
      const ranges = await this.#pipeline.cut(event.event, options.signal);
      const same = sameRanges(ranges, event.ranges);
      cuts.push({
        event,
        ranges,
        recut: same ? undefined : ranges,
        wanted: same ? event.pending : [...ranges.keys()],
      });
    }
    return cuts;
  }

  /** Whether failures are the texts' own: others of the same step were embedded, or a text that nobody can object to. */
  async #works(outcomes: readonly Embedded[], options: CallOptions): Promise<boolean> {
    if (outcomes.some((outcome) => "vector" in outcome)) return true;
    const doubtful = outcomes.some((outcome) => "error" in outcome && isAboutTexts(outcome.error));
    return doubtful && (await this.#pipeline.works(options));
  }
}

interface Cut {
  readonly event: ClaimedEvent;
  readonly ranges: readonly SegmentRange[];
  readonly recut: readonly SegmentRange[] | undefined;
  /** Positions in `ranges` of what is embedded. */
  readonly wanted: readonly number[];
}

function toSettled(outcome: Embedded, works: boolean): SettledSegment {
  if ("vector" in outcome) return outcome;
  return { reason: outcome.error.code, aboutText: works && isAboutTexts(outcome.error) };
}

function sameRanges(a: readonly SegmentRange[], b: readonly SegmentRange[]): boolean {
  return (
    a.length === b.length && a.every(({ start, end }, index) => start === b[index]?.start && end === b[index]?.end)
  );
}
