import { type ReadOperation, type ReadView, readOperation } from "../../database/operation.ts";
import { type Life, requireLife } from "../../registry/lives.ts";
import type { Answered, BackendQuery } from "../../store/backend.ts";
import { needsBigints, readRow, toFloat32 } from "./codec.ts";
import { cosine } from "./kernel/cosine.ts";
import { dotProduct, normOf } from "./kernel/kernel-fallback.ts";
import { type PackedMatches, packMatches } from "./packed-matches.ts";
import { partitionCache } from "./partition-cache.ts";
import { rowsById } from "./reads.ts";
import { requireStore } from "./records.ts";
import { type SearchAnswer, searchPartition } from "./search.ts";
import { recordSql } from "./tables.ts";

export interface QueryInput {
  readonly life: Life;
  readonly query: BackendQuery;
}

/** A `BackendAnswer` whose matches are packed. */
export interface PackedAnswer {
  readonly matches: PackedMatches;
  readonly exact: boolean;
  readonly position: number;
  readonly damaged: number;
}

/** A search whose rows turned out damaged at fetch is repeated without them, at most so often. */
const SEARCHES_MAX = 3;

/** Follows, scans and fetches in one read transaction, so that an answer is of one moment (Q9). */
export const queryRecords: ReadOperation<QueryInput, Answered<readonly PackedAnswer[]>> = readOperation(
  "embedded.query",
  (view, { life, query }) => {
    const { position } = requireLife(view.connection, life);
    const schema = requireStore(view.connection, life).properties;
    for (let attempt = 1; ; attempt += 1) {
      const answers = searchPartition(view, life, query);
      const fetched = answers.map((answer) => fetch(view, life, { answer, includeVectors: query.includeVectors }));
      if (attempt === SEARCHES_MAX || fetched.every(({ lost }) => lost === 0)) {
        const answer = fetched.map(({ matches, lost, damaged }) => ({
          matches,
          exact: true,
          position,
          damaged: damaged + lost,
        }));
        return { schema, answer };
      }
      // A row was damaged after it had been loaded: loading anew leaves it out and counts it.
      view.resource(partitionCache).forget(life);
    }
  },
);

interface Fetched {
  readonly matches: PackedMatches;
  readonly damaged: number;
  readonly lost: number;
}

function fetch(
  view: ReadView,
  life: Life,
  { answer, includeVectors }: { readonly answer: SearchAnswer; readonly includeVectors: boolean },
): Fetched {
  const store = requireStore(view.connection, life);
  const schema = store.properties;
  const select = view.connection.prepare(recordSql(store.store, schema).byRow, { bigints: needsBigints(schema) });
  const found = answer.hits.flatMap(({ row: number, cosineSimilarity }) => {
    const row = select.get(number);
    const record = row && readRow(row, life.partition, schema);
    return record === undefined ? [] : [{ record, cosineSimilarity }];
  });
  const matches = packMatches(found, includeVectors);
  return { matches, damaged: answer.damaged, lost: answer.hits.length - found.length };
}

export interface ScoreInput {
  readonly life: Life;
  readonly vector: Float32Array;
  readonly ids: readonly string[];
}

export const scoreRecords: ReadOperation<ScoreInput, readonly (number | undefined)[]> = readOperation(
  "embedded.score",
  (view, { life, vector, ids }) => cosinesOf(view, life, { vector, ids }),
);

export interface CosinesRequest {
  readonly vector: Float32Array;
  readonly ids: readonly string[];
  /** Gives a damaged record no cosine instead of raising DAMAGED. */
  readonly skipDamaged?: boolean;
}

/** Reading a record by its key and checking it costs about as much as passing so many that are in memory. */
const PASSED_PER_READ = 200;

/** Cosines of records by id, from memory or read by key: the same bits as any scan gives (Q1). */
export function cosinesOf(view: ReadView, life: Life, request: CosinesRequest): readonly (number | undefined)[] {
  const { vector, ids, skipDamaged = false } = request;
  const { records } = requireLife(view.connection, life);
  if (skipDamaged && records <= ids.length * PASSED_PER_READ && view.resource(partitionCache).holds(life))
    return cosinesInMemory(view, life, { vector, ids });
  const { find } = rowsById(view, life, skipDamaged);
  const query = new Float64Array(vector);
  const queryNorm = normOf(query);
  return ids.map((id) => {
    const row = find(id);
    if (row === undefined) return undefined;
    const stored = new Float64Array(toFloat32(row.vector));
    return cosine(dotProduct(stored, 0, query), normOf(stored), queryNorm);
  });
}

/** What is in memory was checked when it was loaded, and holds no damaged record. */
function cosinesInMemory(
  view: ReadView,
  life: Life,
  { vector, ids }: Pick<CosinesRequest, "vector" | "ids">,
): readonly (number | undefined)[] {
  const allowed = new Set(ids);
  const search = { vectors: vector, count: 1, limit: allowed.size, minCosineSimilarity: -1, allowed };
  const [answer] = searchPartition(view, life, search);
  const cosines = new Map(answer?.hits.map(({ id, cosineSimilarity }) => [id, cosineSimilarity]));
  return ids.map((id) => cosines.get(id));
}
