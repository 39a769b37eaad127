import { cosinesOf } from "../backends/embedded/queries.ts";
import { type BlockSearch, type Hit, searchPartition } from "../backends/embedded/search.ts";
import { type ReadOperation, type ReadView, readOperation } from "../database/operation.ts";
import { currentSpace, type Space } from "../embedding/spaces.ts";
import type { BoundFilter } from "../filter/index.ts";
import { type Life, requireLife } from "../registry/lives.ts";
import { admittedSegments, segmentFilter } from "../segments/sqlite/event-filter.ts";
import { readSegment, type StoredSegment } from "../segments/sqlite/segments.ts";
import { searchText, type TextQuery } from "../segments/sqlite/text-search.ts";
import type { ScoredSegment } from "../segments/top-scores.ts";
import { toColumnFilter } from "./column-filter.ts";
import { type Candidate, fuse, type Ranked } from "./fusion.ts";
import { withoutEnding } from "./scope.ts";
import { requireTenant, type TenantLife } from "./tenants.ts";
import { tenantPartition } from "./vector-records.ts";

export interface RecallInput {
  readonly tenant: TenantLife;
  readonly filter: BoundFilter | undefined;
  /** Words of the query, as the text index knows them. */
  readonly words: readonly string[];
  /** Absent where the query could not be embedded: then the text channel answers alone. */
  readonly vector: Float32Array | undefined;
  readonly identity: string;
  readonly limit: number;
  readonly minCosineSimilarity: number;
}

export interface RecalledSegment extends Ranked, StoredSegment {}

export interface RecallOutput {
  readonly segments: readonly RecalledSegment[];
  readonly damaged: number;
  /** Whether vectors took part: `no-vectors` before the first one, `other-space` when another model made them. */
  readonly vectorSearch: "searched" | "not-embedded" | "no-vectors" | "other-space";
}

/** Candidates that each channel gives for one that is answered: fusion may lift what one channel ranks low. */
const CANDIDATES_PER_HIT = 5;
const CANDIDATES_MIN = 100;

/** Both channels, the filter inside each, fused; all of one moment (S4, S5, Q9). */
export const recallSegments: ReadOperation<RecallInput, RecallOutput> = readOperation(
  "memory.recall",
  (view, given) => {
    const counts = requireTenant(view.connection, given.tenant);
    const input = { ...given, filter: withoutEnding(view.connection, given.tenant, given.filter) };
    if (input.limit === 0 || input.filter?.op === "none")
      return { segments: [], damaged: 0, vectorSearch: vectorsOf(view, input).state };
    const wanted = Math.max(CANDIDATES_MIN, input.limit * CANDIDATES_PER_HIT);
    const admission = admit(view, input);
    const query = {
      tenant: input.tenant.tenant,
      documents: counts.documents,
      totalTokens: counts.tokens,
      queryTokens: input.words,
    };
    const best = searchText(view.connection, { ...query, limit: wanted, ...admission.text });
    const vectors = searchVectors(view, input, { limit: wanted, ...admission.rows });
    const texts = [...best, ...scoreRest(view, query, { best, hits: vectors.hits })];
    const candidates = join(texts, vectors.hits, vectors.cosines(best.map(({ segment }) => String(segment))));
    const { segments, damaged } = readRanked(view, input, fuse(candidates));
    return { segments, damaged: damaged + vectors.damaged, vectorSearch: vectors.state };
  },
);

/**
 * The text scores of segments that the vector channel alone found. Taken for 0, they would be ranked below their worth
 * as soon as words are common: evidence recall@10 is .02 lower so (bench/locomo.js).
 */
function scoreRest(
  view: ReadView,
  query: Omit<TextQuery, "limit">,
  { best, hits }: { readonly best: readonly ScoredSegment[]; readonly hits: readonly Hit[] },
): readonly ScoredSegment[] {
  const scored = new Set(best.map(({ segment }) => segment));
  const rest = hits.map(({ id }) => Number(id)).filter((segment) => !scored.has(segment));
  return rest.length === 0
    ? []
    : searchText(view.connection, { ...query, limit: rest.length, admitted: new Set(rest) });
}

/** The best whole segments: a damaged one gives its place to the next. */
function readRanked(
  view: ReadView,
  input: RecallInput,
  ranked: readonly Ranked[],
): Pick<RecallOutput, "segments" | "damaged"> {
  const segments: RecalledSegment[] = [];
  let damaged = 0;
  for (const candidate of ranked) {
    if (segments.length === input.limit) break;
    const stored = readSegment(view.connection, input.tenant.tenant, candidate.segment);
    // Both channels are of this moment: a segment that they know and that is not there is damage too.
    if (stored === "damaged" || stored === undefined) damaged += 1;
    else segments.push({ ...candidate, ...stored });
  }
  return { segments, damaged };
}

interface VectorSearch {
  readonly state: RecallOutput["vectorSearch"];
  readonly hits: readonly Hit[];
  readonly damaged: number;
  /** The cosines of segments that the other channel found. */
  cosines(segments: readonly string[]): readonly (number | undefined)[];
}

function searchVectors(
  view: ReadView,
  input: RecallInput,
  bounds: Pick<BlockSearch, "limit" | "filter" | "allowed">,
): VectorSearch {
  const { life, state } = vectorsOf(view, input);
  const { vector } = input;
  if (state !== "searched" || life === undefined || vector === undefined) {
    return { state, hits: [], damaged: 0, cosines: (segments) => segments.map(() => undefined) };
  }
  requireLife(view.connection, life);
  const [answer] = searchPartition(view, life, {
    vectors: vector,
    count: 1,
    minCosineSimilarity: input.minCosineSimilarity,
    ...bounds,
  });
  return {
    state,
    hits: answer?.hits ?? [],
    damaged: answer?.damaged ?? 0,
    cosines: (segments) => cosinesOf(view, life, { vector, ids: segments, skipDamaged: true }),
  };
}

/** What may be answered, in the form that each channel asks for. */
interface Admission {
  readonly text: Pick<TextQuery, "admits" | "admitted">;
  readonly rows: Pick<BlockSearch, "filter" | "allowed">;
}

/** Filters on columns act during the scan; any other is answered from the events first, exactly. */
function admit(view: ReadView, { filter, tenant }: RecallInput): Admission {
  if (filter === undefined) return { text: {}, rows: {} };
  const columns = toColumnFilter(filter);
  if (columns !== undefined)
    return { rows: { filter: columns }, text: { admits: segmentFilter(view.connection, filter) } };
  const allowed = admittedSegments(view.connection, tenant.tenant, filter);
  return {
    text: { admits: (segment) => allowed.has(segment), admitted: allowed },
    rows: { allowed: new Set([...allowed].map(String)) },
  };
}

/** The partition that holds the tenant's vectors, and whether the question can be compared with them. */
function vectorsOf(
  view: ReadView,
  input: RecallInput,
): { readonly life: Life | undefined; readonly state: RecallOutput["vectorSearch"] } {
  const space = currentSpace(view.connection);
  const life = space && tenantPartition(view, space, input.tenant);
  return { life, state: stateOf(input, space, life) };
}

function stateOf(input: RecallInput, space: Space | undefined, life: Life | undefined): RecallOutput["vectorSearch"] {
  if (space === undefined || life === undefined) return "no-vectors";
  if (space.identity !== input.identity) return "other-space";
  return input.vector === undefined ? "not-embedded" : "searched";
}

function join(
  texts: readonly { readonly segment: number; readonly score: number }[],
  hits: readonly Hit[],
  cosines: readonly (number | undefined)[],
): readonly Candidate[] {
  const byVector = new Set(hits.map(({ id }) => Number(id)));
  const textScores = new Map(texts.map(({ segment, score }) => [segment, score]));
  const fromVectors = hits.map((hit) => ({
    segment: Number(hit.id),
    cosine: hit.cosineSimilarity,
    textScore: textScores.get(Number(hit.id)),
    byVector: true,
  }));
  const fromTexts = texts.flatMap(({ segment, score }, index) =>
    byVector.has(segment) ? [] : [{ segment, cosine: cosines[index], textScore: score, byVector: false }],
  );
  return [...fromVectors, ...fromTexts];
}
