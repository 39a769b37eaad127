import { EmbeddedBackend } from "./backends/embedded/backend.ts";
import { LIMITS } from "./contract/limits.ts";
import { assertName } from "./contract/names.ts";
import type { OptionNames } from "./contract/option-names.ts";
import { assertSchema, type PropertySchema } from "./contract/properties.ts";
import type { Store } from "./contract/store.ts";
import { openDatabase } from "./database/open-database.ts";
import { HoldfastError } from "./errors/index.ts";
import { assertPlace, PLACE_OPTIONS, type PlaceOptions } from "./place.ts";
import { DATABASE_PLAN, WORKER_URL } from "./plan.ts";
import { StoreHandle } from "./store/store.ts";

/** What a store is; its name, dimensions and the types of its keys are fixed when it is made (P1). */
export type StoreOptions<S extends PropertySchema = PropertySchema> = PlaceOptions & {
  /** `[a-z0-9_]{1,32}`; several stores share one folder without meeting. */
  readonly name: string;
  /** Components of each vector, 1…16,384. */
  readonly dimensions: number;
  /** Declared properties, by type; further keys may be declared at a later open. Default none. */
  readonly properties?: S;
  /** How int64 values are read: `number` where safe and `bigint` beyond (default), or always `bigint` (V5). */
  readonly int64?: "number" | "bigint";
};

const STORE_OPTIONS: OptionNames<StoreOptions> = {
  ...PLACE_OPTIONS,
  name: true,
  dimensions: true,
  properties: true,
  int64: true,
};

/**
 * Opens a store of vectors, making the folder and the store where there are none.
 *
 * @throws STORE_MISMATCH, PARTITION_SCHEMA_MISMATCH, FOREIGN_STORAGE, DAMAGED, FORMAT_TOO_NEW,
 *   UNSUPPORTED_FILESYSTEM, PACKAGE_MISSING, BUSY, INVALID_NAME, INVALID_ARGUMENT
 */
export async function openStore<const S extends PropertySchema = Record<never, never>>(
  options: StoreOptions<S>,
): Promise<Store<S>> {
  assertPlace(options, STORE_OPTIONS, "openStore");
  const { name, dimensions, properties = {} } = options;
  assertName(name, "store name");
  if (!(Number.isInteger(dimensions) && dimensions >= 1 && dimensions <= LIMITS.dimensionsMax)) {
    throw new HoldfastError("INVALID_ARGUMENT", `dimensions is a whole number from 1 to ${LIMITS.dimensionsMax}.`);
  }
  assertSchema(properties);
  if (options.int64 !== undefined && options.int64 !== "number" && options.int64 !== "bigint") {
    throw new HoldfastError("INVALID_ARGUMENT", 'int64 is "number" or "bigint".');
  }
  const open = openDatabase(options, DATABASE_PLAN, WORKER_URL);
  const backend = await EmbeddedBackend.open(open, { name, dimensions, properties });
  return new StoreHandle<S>(backend, options.int64 ?? "number");
}
