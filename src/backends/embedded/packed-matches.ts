import type { BoundProperties } from "../../contract/properties.ts";
import { giveWay } from "../../io/clock.ts";
import type { BackendMatch } from "../../store/backend.ts";
import type { RecordRow } from "./codec.ts";

/**
 * Matches on their way to the calling thread. As objects of their own, 10,000 of them with vectors would hold that
 * thread for 45 ms while they are received (E7); so their vectors lie in one shared piece and are taken out in slices.
 */
export interface PackedMatches {
  readonly ids: readonly string[];
  readonly values: readonly BoundProperties[];
  readonly cosines: readonly number[];
  /** Shape [ids.length × dimensions], in memory that both threads see. */
  readonly vectors: Float32Array | undefined;
}

export interface FoundRow {
  readonly record: RecordRow;
  readonly cosineSimilarity: number;
}

/** Matches unpacked between two looks at whether others want to run. */
const SLICE = 128;

export function packMatches(found: readonly FoundRow[], includeVectors: boolean): PackedMatches {
  return {
    ids: found.map(({ record }) => record.id),
    values: found.map(({ record }) => record.values),
    cosines: found.map(({ cosineSimilarity }) => cosineSimilarity),
    vectors: includeVectors ? joinVectors(found) : undefined,
  };
}

function joinVectors(found: readonly FoundRow[]): Float32Array {
  const stride = found[0]?.record.vector.byteLength ?? 0;
  const joined = new Uint8Array(new SharedArrayBuffer(found.length * stride));
  for (const [index, { record }] of found.entries()) joined.set(record.vector, index * stride);
  return new Float32Array(joined.buffer);
}

/** Every vector is a copy of its own: one that a caller keeps does not keep the others. */
export async function unpackMatches({ ids, values, cosines, vectors }: PackedMatches): Promise<BackendMatch[]> {
  const dimensions = vectors === undefined ? 0 : vectors.length / ids.length;
  const matches: BackendMatch[] = [];
  for (const [index, id] of ids.entries()) {
    if (index % SLICE === SLICE - 1) await giveWay();
    const vector = vectors && new Float32Array(vectors.subarray(index * dimensions, (index + 1) * dimensions));
    matches.push({ id, values: values[index] ?? [], vector, cosineSimilarity: cosines[index] ?? Number.NaN });
  }
  return matches;
}
