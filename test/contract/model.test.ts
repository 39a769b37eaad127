import fc from "fast-check";
import { openStore } from "holdfast";
import { PartitionModel } from "holdfast/testkit";
import { describe, it } from "vitest";
import { cosine } from "../../src/backends/embedded/kernel/cosine.ts";
import { dotProduct, normOf } from "../../src/backends/embedded/kernel/kernel-fallback.ts";
import { temporaryFolder } from "../doubles/embedded-places.ts";
import {
  DIMENSIONS,
  KEYS,
  type Model,
  RANDOM_SCHEMA,
  type Real,
  runStep,
  STEP_NAMES,
  type Step,
} from "./model-commands.ts";

/** The least budget: two partitions push each other out of memory, and a large one is streamed. */
const MEMORY_BUDGET_BYTES = 1024 * 1024;

const STEPS_MAX = 40;

/** HOLDFAST_MODEL_RUNS and HOLDFAST_MODEL_SEED lengthen the run and move it elsewhere; a failure prints its seed. */
const RUNS = Number(process.env.HOLDFAST_MODEL_RUNS ?? 12);
const SEED = Number(process.env.HOLDFAST_MODEL_SEED ?? 20_260_501);

const step: fc.Arbitrary<Step> = fc.record({
  name: fc.constantFrom(...STEP_NAMES),
  key: fc.constantFrom(...KEYS),
  seed: fc.nat(),
});

describe("[backend embedded] model", () => {
  for (const threads of ["workers", "inline"] as const) {
    it(`[T3, Q1, Q3, Q8, F8, V13] any sequence of calls is answered as by a plain Map, order and scores included (${threads})`, async () => {
      const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: STEPS_MAX, size: "max" }), (steps) =>
        compare(steps, threads),
      );
      await fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: RUNS > 100 });
    });
  }
});

async function compare(steps: readonly Step[], threads: "workers" | "inline"): Promise<void> {
  const { path, remove } = temporaryFolder();
  const reopen: Real["reopen"] = () =>
    openStore({
      path,
      threads,
      name: "model",
      dimensions: DIMENSIONS,
      properties: RANDOM_SCHEMA,
      memoryBudgetBytes: MEMORY_BUDGET_BYTES,
    });
  const model: Model = {
    partitions: new Map(),
    newPartition: () => new PartitionModel({ properties: RANDOM_SCHEMA, cosine: exactCosine }),
  };
  const real: Real = { store: await reopen(), partitions: new Map(), reopen };
  try {
    for (const key of KEYS) await runStep({ name: "recreate", key, seed: 0 }, model, real);
    for (const next of steps) await runStep(next, model, real);
    for (const key of KEYS) await runStep({ name: "query", key, seed: 1 }, model, real);
  } finally {
    await real.store.close();
    remove();
  }
}

/** By the documented order of additions, in plain TypeScript. */
function exactCosine(a: Float32Array, b: Float32Array): number {
  return cosine(dotProduct(b, 0, a), normOf(a), normOf(b));
}
