import { cosinesOf } from "../backends/embedded/queries.ts";
import { type BlockSearch, type Hit, searchPartition } from "../backends/embedded/search.ts";
import type { ReadView } from "../database/operation.ts";
import { currentSpace, type Space } from "../embedding/spaces.ts";
import { type Life, requireLife } from "../registry/lives.ts";
import { admittedSegments, segmentFilter } from "../segments/sqlite/event-filter.ts";
import { countVectors } from "../segments/sqlite/segments.ts";
import { findWords, type QueryWord, searchText, type TextQuery } from "../segments/sqlite/text-search.ts";
import type { ScoredSegment } from "../segments/top-scores.ts";
import { keyColumns, toColumnFilter } from "./column-filter.ts";
import { bestPerSegment, segmentOfVector, vectorId } from "./derivatives.ts";
import type { RecallInput, VectorSearchState } from "./recall.ts";
import type { TenantState } from "./tenants.ts";
import { tenantPartition } from "./vector-records.ts";

/** By how much a search is widened that met too many vectors of one segment. */
const WIDENING = 4;

/** How a filter is answered: on columns during the scan, or from the events first, exactly (D4). */
export type FilterPlan = "none" | "columns" | "listed";

/** What may be answered, in the form that each channel asks for. */
export interface Admission {
  readonly plan: FilterPlan;
  readonly text: Pick<TextQuery, "admits" | "admitted">;
  readonly rows: Pick<BlockSearch, "filter" | "allowed">;
  admits(segment: number): boolean;
}

/** Filters on columns act during the scan; any other is answered from the events first, exactly. */
export function admit(view: ReadView, { filter, tenant }: RecallInput): Admission {
  if (filter === undefined) return { plan: "none", text: {}, rows: {}, admits: () => true };
  const columns = toColumnFilter(filter, keyColumns(view.connection, tenant.tenant));
  if (columns !== undefined) {
    const admits = segmentFilter(view.connection, filter);
    return { plan: "columns", rows: { filter: columns }, text: { admits }, admits };
  }
  const allowed = admittedSegments(view.connection, tenant.tenant, filter);
  const admits = (segment: number): boolean => allowed.has(segment);
  return {
    plan: "listed",
    text: { admits, admitted: allowed },
    rows: { allowed: { has: (id) => allowed.has(segmentOfVector(id)) } },
    admits,
  };
}

/** The words of the question in one tenant's texts. */
export class TextChannel {
  readonly #view: ReadView;
  readonly #query: Omit<TextQuery, "limit">;
  readonly #words: readonly QueryWord[];

  constructor(view: ReadView, input: RecallInput, counts: TenantState) {
    this.#view = view;
    this.#query = {
      tenant: input.tenant.tenant,
      documents: counts.documents,
      totalTokens: counts.tokens,
      queryTokens: input.channels.text ? input.words : [],
    };
    this.#words = findWords(view.connection, this.#query);
  }

  search(limit: number, admission: Admission): readonly ScoredSegment[] {
    return searchText(this.#view.connection, { ...this.#query, limit, ...admission.text }, this.#words);
  }

  /** The scores of some segments, whatever their rank: taken for 0 they would be ranked below their worth. */
  score(segments: ReadonlySet<number>): readonly ScoredSegment[] {
    if (segments.size === 0) return [];
    const query = { ...this.#query, limit: segments.size, admitted: segments };
    return searchText(this.#view.connection, query, this.#words);
  }
}

/** The vector of the question among one tenant's vectors. */
export class VectorChannel {
  readonly state: VectorSearchState;
  readonly #view: ReadView;
  readonly #life: Life | undefined;
  readonly #vector: Float32Array | undefined;
  readonly #minCosineSimilarity: number;

  constructor(view: ReadView, input: RecallInput) {
    const space = currentSpace(view.connection);
    const life = space && tenantPartition(view, space, input.tenant);
    this.state = stateOf(input, space, life);
    this.#view = view;
    this.#life = this.state === "searched" ? life : undefined;
    this.#vector = input.vector;
    this.#minCosineSimilarity = input.minCosineSimilarity;
    if (this.#life !== undefined) requireLife(view.connection, this.#life);
  }

  search(limit: number, admission: Admission): { readonly hits: readonly Hit[]; readonly damaged: number } {
    if (this.#life === undefined || this.#vector === undefined) return { hits: [], damaged: 0 };
    const search = { vectors: this.#vector, count: 1, minCosineSimilarity: this.#minCosineSimilarity };
    // A segment may have several vectors: more are looked at until as many segments are found, or all vectors are.
    for (let wanted = limit; ; wanted *= WIDENING) {
      const [answer = { hits: [], damaged: 0 }] = searchPartition(this.#view, this.#life, {
        ...search,
        limit: wanted,
        ...admission.rows,
      });
      const hits = bestPerSegment(answer.hits);
      if (hits.length >= limit || answer.hits.length < wanted)
        return { hits: hits.slice(0, limit), damaged: answer.damaged };
    }
  }

  /** The best cosines of some segments, whatever their rank; `undefined` for one without a vector. */
  score(segments: readonly number[]): readonly (number | undefined)[] {
    if (this.#life === undefined || this.#vector === undefined) return segments.map(() => undefined);
    const counts = segments.map((segment) => countVectors(this.#view.connection, segment));
    const ids = segments.flatMap((segment, index) =>
      Array.from({ length: counts[index] ?? 0 }, (_, place) => vectorId(segment, place)),
    );
    const cosines = cosinesOf(this.#view, this.#life, { vector: this.#vector, ids, skipDamaged: true });
    let next = 0;
    return counts.map((count) => {
      const own = cosines.slice(next, next + count).filter((cosine) => cosine !== undefined);
      next += count;
      return own.length === 0 ? undefined : Math.max(...own);
    });
  }
}

function stateOf(input: RecallInput, space: Space | undefined, life: Life | undefined): VectorSearchState {
  if (!input.channels.vector) return "not-asked";
  if (space === undefined || life === undefined) return "no-vectors";
  if (space.identity !== input.identity) return "other-space";
  return input.vector === undefined ? input.withoutVector : "searched";
}

/** How many segments in scope the vector search cannot see. */
export interface Coverage {
  readonly pending: number;
  readonly parked: number;
  readonly otherSpace: number;
}
