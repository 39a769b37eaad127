export { type ModelOptions, PartitionModel } from "./partition-model.ts";
export { RANDOM_SCHEMA, randomFilter, randomRecord } from "./random-filters.ts";
export { SeededRandom } from "./seeded-random.ts";
export { type ContractOptions, storeContract } from "./store-contract.ts";
export type { StoreFactory, StorePlace, StoreSpec, TestFramework } from "./test-bed.ts";
export { HOSTILE_IDS, HOSTILE_TEXTS, LONE_SURROGATES } from "./texts.ts";
