import { LIMITS } from "../contract/limits.ts";
import type { QueryManyRequest } from "../contract/store.ts";
import { type VectorInput, writeVector } from "../contract/vector.ts";
import { HoldfastError } from "../errors/index.ts";
import { bindWhere, type FilterSchema } from "../filter/index.ts";
import type { BackendQuery } from "./backend.ts";
import { assertArray, assertCount } from "./batch.ts";

const DEFAULT_LIMIT = 10;

/** Checks a query and fills in what was left out (V10, Q2, Q5). */
export function toQuery(request: QueryManyRequest, dimensions: number, schema: FilterSchema): BackendQuery {
  assertArray(request.vectors, "vectors");
  assertCount(request.vectors.length, LIMITS.queryVectorsMax, "query vectors of one call");
  return {
    vectors: toVectors(request.vectors, dimensions, "query vector"),
    count: request.vectors.length,
    limit: toLimit(request.limit),
    filter: request.where === undefined ? undefined : bindWhere(request.where, schema),
    minCosineSimilarity: toThreshold(request.minCosineSimilarity),
    includeVectors: request.includeVectors === true,
    exact: request.exact === true,
  };
}

/** Shape [vectors.length × dimensions], rounded to float32 (V10). */
export function toVectors(vectors: readonly VectorInput[], dimensions: number, what: string): Float32Array {
  const target = new Float32Array(vectors.length * dimensions);
  for (const [index, vector] of vectors.entries()) {
    writeVector(vector, dimensions, target, index * dimensions, vectors.length === 1 ? what : `${what} ${index}`);
  }
  return target;
}

export function toLimit(limit: unknown): number {
  const value = limit ?? DEFAULT_LIMIT;
  if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= LIMITS.queryLimitMax) return Number(value);
  throw new HoldfastError("INVALID_ARGUMENT", `limit is a whole number from 0 to ${LIMITS.queryLimitMax}.`, {
    details: { queryLimitMax: LIMITS.queryLimitMax },
  });
}

/** Every similarity is at least −1, so that −1 admits all. */
export function toThreshold(threshold: unknown): number {
  if (threshold === undefined || threshold === null) return -1;
  if (typeof threshold === "number" && Number.isFinite(threshold)) return threshold;
  throw new HoldfastError("INVALID_ARGUMENT", "minCosineSimilarity is a finite number; similarities lie in [-1, 1].");
}
