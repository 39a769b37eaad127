import { toFloat32 } from "../backends/embedded/codec.ts";
import { cosinesOf } from "../backends/embedded/queries.ts";
import { searchPartition } from "../backends/embedded/search.ts";
import type { EngineSettings, ReadView } from "../database/operation.ts";
import { Resources } from "../database/resources.ts";
import { neverCancelled } from "../io/cancellation.ts";
import type { Life } from "../registry/lives.ts";
import { storesOf } from "./stored-stores.ts";
import type { Check, Steps, Verification } from "./verification.ts";

/** Vectors that one pass over a partition serves. */
const VECTORS_PER_SEARCH = 32;

/** Between two sums of float64 that should be one. */
const ROUNDING = 1e-9;

/** Searches for every vector through the search itself: whatever it answers first must be as near as the vector itself. */
export function nearestChecks(settings: EngineSettings): Check {
  return {
    stage: "nearest",
    *run(verification) {
      const resources = new Resources(settings);
      const view: ReadView = {
        connection: verification.connection,
        cancellation: neverCancelled,
        resource: (factory) => resources.get(factory),
      };
      try {
        for (const { store, row } of storesOf(verification.connection))
          if (row !== undefined) yield* checkStore(verification, view, store);
      } finally {
        resources.close();
      }
    },
  };
}

function* checkStore(verification: Verification, view: ReadView, store: number): Steps {
  const lives = verification.connection
    .prepare("SELECT partition, key, incarnation FROM partitions WHERE store = ? ORDER BY partition")
    .all(store);
  for (const { partition, key, incarnation } of lives)
    yield* checkPartition(verification, view, {
      store,
      partition: Number(partition),
      key: String(key),
      incarnation: String(incarnation),
    });
}

interface Asked {
  readonly row: number;
  readonly id: string;
  readonly vector: Float32Array;
}

function* checkPartition(verification: Verification, view: ReadView, life: Life): Steps {
  const select = verification.connection.prepare(
    `SELECT r.row, r.id, v.vector FROM records_${life.store} AS r JOIN vectors_${life.store} AS v ON v.row = r.row
     WHERE r.partition = ? AND r.row > ? ORDER BY r.row LIMIT ?`,
  );
  for (let last = 0; ; ) {
    const page = select.all(life.partition, last, VECTORS_PER_SEARCH);
    const asked = page.map(
      ({ row, id, vector }): Asked => ({ row: Number(row), id: String(id), vector: toFloat32(vector as Uint8Array) }),
    );
    last = asked.at(-1)?.row ?? last;
    if (asked.length > 0) askAll(verification, view, life, asked);
    yield;
    if (page.length < VECTORS_PER_SEARCH) return;
  }
}

function askAll(verification: Verification, view: ReadView, life: Life, asked: readonly Asked[]): void {
  const [first] = asked;
  if (first === undefined) return;
  const { length } = first.vector;
  const usable = asked.filter(({ vector }) => vector.length === length);
  const vectors = new Float32Array(usable.length * length);
  for (const [index, { vector }] of usable.entries()) vectors.set(vector, index * length);
  const answers = searchPartition(view, life, { vectors, count: usable.length, limit: 1, minCosineSimilarity: -1 });
  for (const [index, { row, id, vector }] of usable.entries()) {
    const best = answers[index]?.hits[0];
    if (best?.row === row) continue;
    // A record with an equal vector may come first. A damaged one was reported where the records were read.
    const [own] = cosinesOf(view, life, { vector, ids: [id], skipDamaged: true });
    if (best !== undefined && own !== undefined && own >= 1 - ROUNDING && best.cosineSimilarity <= own + ROUNDING)
      continue;
    verification.report("nearest", `records_${life.store}`, row, "The record is not the nearest to its own vector.");
  }
}
