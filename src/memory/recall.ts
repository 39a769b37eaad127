import { type ReadOperation, type ReadView, readOperation } from "../database/operation.ts";
import type { BoundFilter } from "../filter/index.ts";
import { systemClock } from "../io/clock.ts";
import { countSegmentsIn } from "../segments/sqlite/event-filter.ts";
import type { StoredEvent } from "../segments/sqlite/events.ts";
import { neighbourEvents } from "../segments/sqlite/neighbours.ts";
import { readSegment, type StoredSegment } from "../segments/sqlite/segments.ts";
import { type Ranked, rankByChannel } from "./fusion.ts";
import { countPending } from "./pending-rows.ts";
import { CandidateSet, candidatesPerChannel, rankWithNeighbours } from "./ranking.ts";
import { admit, type Coverage, type FilterPlan, TextChannel, VectorChannel } from "./recall-channels.ts";
import { withoutEnding } from "./scope.ts";
import { requireSession, type SessionLife } from "./sessions.ts";
import { requireTenant, type TenantLife } from "./tenants.ts";

/**
 * Whether vectors took part: `no-vectors` before the first one, `other-space` when another model made them,
 * `model-loading` and `not-embedded` when the question has no vector (yet), `not-asked` when the caller left them out.
 */
export type VectorSearchState =
  | "searched"
  | "not-embedded"
  | "model-loading"
  | "no-vectors"
  | "other-space"
  | "not-asked";

export interface RecallInput {
  readonly tenant: TenantLife;
  /** Of the handle that asks: while the question was embedded its life may have ended. */
  readonly session: SessionLife | undefined;
  readonly filter: BoundFilter | undefined;
  /** Words of the question without its common ones, as the text index knows them. */
  readonly words: readonly string[];
  /** All words of the question: who is named in it. */
  readonly allWords: readonly string[];
  /** Absent where the question has no vector: then the text channel answers alone. */
  readonly vector: Float32Array | undefined;
  /** Why it has none. */
  readonly withoutVector: "not-embedded" | "model-loading";
  readonly identity: string;
  readonly limit: number;
  readonly minCosineSimilarity: number;
  readonly channels: { readonly text: boolean; readonly vector: boolean };
  /** Events of the same session around each hit. */
  readonly context: { readonly before: number; readonly after: number };
}

export interface RecalledSegment extends Ranked, StoredSegment {
  readonly before: readonly StoredEvent[];
  readonly after: readonly StoredEvent[];
}

export interface RecallExplanation {
  readonly filter: FilterPlan;
  readonly textCandidates: number;
  readonly vectorCandidates: number;
  /** Segments that were ranked, neighbours with them. */
  readonly ranked: number;
  readonly milliseconds: {
    readonly filter: number;
    readonly text: number;
    readonly vector: number;
    readonly ranking: number;
  };
}

export interface RecallOutput {
  readonly segments: readonly RecalledSegment[];
  readonly damaged: number;
  readonly vectorSearch: VectorSearchState;
  readonly coverage: Coverage;
  readonly explanation: RecallExplanation;
}

/** Both channels, the filter inside each, fused; all of one moment (S4, S5, Q9). */
export const recallSegments: ReadOperation<RecallInput, RecallOutput> = readOperation(
  "memory.recall",
  (view, given) => {
    const counts = requireTenant(view.connection, given.tenant);
    if (given.session !== undefined) requireSession(view.connection, given.session);
    const input = { ...given, filter: withoutEnding(view.connection, given.tenant, given.filter) };
    const vectors = new VectorChannel(view, input);
    const coverage = coverageOf(view, input, vectors.state);
    const watch = new StopWatch();
    if (input.limit === 0 || input.filter?.op === "none")
      return { segments: [], damaged: 0, vectorSearch: vectors.state, coverage, explanation: NOTHING_DONE };
    const wanted = candidatesPerChannel(input.limit);
    const admission = admit(view, input);
    const filterMs = watch.lap();
    const texts = new TextChannel(view, input, counts);
    const byText = texts.search(wanted, admission);
    const textMs = watch.lap();
    const byVector = vectors.search(wanted, admission);
    const vectorMs = watch.lap();
    const candidates = new CandidateSet(view, input, { texts, vectors, admission });
    const found = candidates.join(byText, byVector.hits);
    const only = onlyChannel(input);
    const ranked =
      only === undefined
        ? rankWithNeighbours(input, { candidates, found })
        : rankByChannel({ found: found.within(wanted), scale: found.scale }, only);
    const { segments, damaged } = readRanked(view, input, ranked);
    const explanation = {
      filter: admission.plan,
      textCandidates: byText.length,
      vectorCandidates: byVector.hits.length,
      ranked: ranked.length,
      milliseconds: { filter: filterMs, text: textMs, vector: vectorMs, ranking: watch.lap() },
    };
    return {
      segments,
      damaged: damaged + byVector.damaged,
      vectorSearch: vectors.state,
      coverage,
      explanation,
    };
  },
);

const NOTHING_DONE: RecallExplanation = {
  filter: "none",
  textCandidates: 0,
  vectorCandidates: 0,
  ranked: 0,
  milliseconds: { filter: 0, text: 0, vector: 0, ranking: 0 },
};

function onlyChannel({ channels }: RecallInput): "text" | "vector" | undefined {
  if (channels.text && channels.vector) return undefined;
  return channels.text ? "text" : "vector";
}

/** The best whole segments with what was said around them: a damaged one gives its place to the next. */
function readRanked(
  view: ReadView,
  input: RecallInput,
  ranked: readonly Ranked[],
): Pick<RecallOutput, "segments" | "damaged"> {
  const segments: RecalledSegment[] = [];
  const { tenant } = input.tenant;
  let damaged = 0;
  for (const candidate of ranked) {
    if (segments.length === input.limit) break;
    const stored = readSegment(view.connection, tenant, candidate.segment);
    // Both channels are of this moment: a segment that they know and that is not there is damage too.
    if (stored === "damaged" || stored === undefined) damaged += 1;
    else
      segments.push({
        ...candidate,
        ...stored,
        ...neighbourEvents(view.connection, tenant, stored.event, input.context),
      });
  }
  return { segments, damaged };
}

function coverageOf(view: ReadView, { tenant, filter }: RecallInput, state: VectorSearchState): Coverage {
  if (filter?.op === "none") return { pending: 0, parked: 0, otherSpace: 0 };
  const { waiting, parked } = countPending(view.connection, tenant, filter);
  const otherSpace =
    state === "other-space"
      ? countSegmentsIn(view.connection, { tenant: tenant.tenant, filter }) - waiting - parked
      : 0;
  return { pending: waiting, parked, otherSpace };
}

class StopWatch {
  #since = systemClock.monotonicMs();

  /** Milliseconds since the last call, with two digits. */
  lap(): number {
    const now = systemClock.monotonicMs();
    const passed = now - this.#since;
    this.#since = now;
    return Math.round(passed * 100) / 100;
  }
}
