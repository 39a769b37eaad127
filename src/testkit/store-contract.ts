import { callSuite } from "./suites/calls.ts";
import { concurrencySuite } from "./suites/concurrency.ts";
import { filterDoorSuite } from "./suites/filter-doors.ts";
import { filterSuite } from "./suites/filters.ts";
import { lifecycleSuite } from "./suites/lifecycle.ts";
import { liveSuite } from "./suites/lives.ts";
import { persistenceSuite } from "./suites/persistence.ts";
import { propertyValueSuite } from "./suites/property-values.ts";
import { randomFilterSuite } from "./suites/random-filters.ts";
import { receiptSuite } from "./suites/receipts.ts";
import { recordSuite } from "./suites/records.ts";
import { scanSuite } from "./suites/scanning.ts";
import { searchSuite } from "./suites/searching.ts";
import { textSuite } from "./suites/texts.ts";
import { vectorSuite } from "./suites/vectors.ts";
import { type StoreFactory, type TestFramework, testCase } from "./test-bed.ts";

export interface ContractOptions {
  /** Of the random parts; a failure names it. The default is fixed, so that a run repeats. */
  readonly seed?: number;
}

const DEFAULT_SEED = 20_260_501;

/**
 * Registers every test of the contract of a store for one backend. This one statement is a backend's compliance:
 * what it cannot do is in its capability table, and then the weaker behaviour is asserted instead.
 *
 * ```js
 * import { describe, it } from "vitest";
 * storeContract({ describe, it }, { name: "embedded", createPlace });
 * ```
 */
export function storeContract(framework: TestFramework, factory: StoreFactory, options: ContractOptions = {}): void {
  const it = testCase(framework, factory);
  const seed = options.seed ?? DEFAULT_SEED;
  const { describe } = framework;
  describe(`store contract [backend ${factory.name}]`, () => {
    describe("property values", () => propertyValueSuite(it));
    describe("texts", () => textSuite(it));
    describe("vectors", () => vectorSuite(it));
    describe("records", () => recordSuite(it));
    describe("idempotency keys", () => receiptSuite(it));
    describe("searching", () => searchSuite(it, seed));
    describe("scanning", () => scanSuite(it));
    describe("bounds of a call", () => callSuite(it));
    describe("filters", () => filterSuite(it));
    describe("doors of filters", () => filterDoorSuite(it));
    describe("random filters", () => randomFilterSuite(it, seed));
    describe("concurrent calls", () => concurrencySuite(it));
    describe("lives of partitions", () => liveSuite(it));
    describe("closing", () => lifecycleSuite(it));
    describe("opening again", () => persistenceSuite(it));
  });
}
