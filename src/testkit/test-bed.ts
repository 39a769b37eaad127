import type { PropertySchema } from "../contract/properties.ts";
import type { Partition, Store } from "../contract/store.ts";

/** The part of a test framework that the suites use: vitest, Jest, Mocha and node:test have it. */
export interface TestFramework {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: () => Promise<void>): unknown;
}

/** What a suite asks a backend to open. */
export interface StoreSpec {
  readonly name: string;
  readonly dimensions: number;
  readonly properties: PropertySchema;
  readonly int64?: "number" | "bigint";
}

/** A fresh folder, schema or set of collections that one test alone uses. */
export interface StorePlace {
  /** Opens a store of this place. It is called again for the same store: after a close, and while one is open. */
  open(spec: StoreSpec): Promise<Store>;
  /** Removes what the test left; every store of the place is closed by then. */
  remove(): Promise<void>;
}

/** A backend, or one way to open it, that the contract is asked of. */
export interface StoreFactory {
  /** Of a–z, 0–9, `-` and `_`; the report counts tests under it. */
  readonly name: string;
  createPlace(): Promise<StorePlace>;
}

/** One test of a suite; the bed is made before it and taken away after it, also when it fails. */
export type TestCase = (name: string, body: (bed: TestBed) => Promise<void>) => void;

const DEFAULT_SPEC: StoreSpec = { name: "contract", dimensions: 3, properties: {} };

/** The partition that {@link TestBed.openPartition} makes. */
export const PARTITION_KEY = "main";

/** What one test has in hand. */
export class TestBed {
  readonly #place: StorePlace;
  readonly #stores: Store[] = [];

  constructor(place: StorePlace) {
    this.#place = place;
  }

  async open(spec: Partial<StoreSpec> = {}): Promise<Store> {
    const store = await this.#place.open({ ...DEFAULT_SPEC, ...spec });
    this.#stores.push(store);
    return store;
  }

  /** A fresh partition of a store. */
  async openPartition(spec: Partial<StoreSpec> = {}): Promise<Partition> {
    const store = await this.open(spec);
    return store.createPartition(PARTITION_KEY);
  }

  async remove(): Promise<void> {
    for (const store of this.#stores) await store.close();
    await this.#place.remove();
  }
}

/** Wraps the framework's `it` so that every test has a bed of its own. */
export function testCase({ it }: TestFramework, factory: StoreFactory): TestCase {
  return (name, body) => {
    it(name, async () => {
      const bed = new TestBed(await factory.createPlace());
      try {
        await body(bed);
      } finally {
        await bed.remove();
      }
    });
  };
}
