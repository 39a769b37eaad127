import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { PropertySchema } from "../../../src/contract/properties.ts";
import type { Partition, Store } from "../../../src/contract/store.ts";
import type { Connection } from "../../../src/database/connection.ts";
import { openConnection } from "../../../src/database/drivers/open-connection.ts";
import { DATABASE_FILE } from "../../../src/database/open-files.ts";
import { openStore, type StoreOptions } from "../../../src/open-store.ts";
import { temporaryFolder } from "../database/connections.ts";

export interface Bed<S extends PropertySchema> {
  readonly path: string;
  readonly store: Store<S>;
  readonly partition: Partition<S>;
  /** A connection beside the store's, through SQLite. */
  readonly raw: Connection;
}

/** A store on disk, inline, with one partition `acme`. */
export async function openBed<const S extends PropertySchema>(
  options: { readonly dimensions: number; readonly properties: S } & Partial<StoreOptions<S>>,
): Promise<Bed<S>> {
  const path = join(temporaryFolder(), "store.holdfast");
  const store = await openStore<S>({ path, threads: "inline", name: "docs", ...options } as StoreOptions<S>);
  const partition = await store.createPartition("acme");
  const raw = openConnection(join(path, DATABASE_FILE), { readOnly: false, mustExist: true });
  onTestFinished(async () => {
    raw.close();
    await store.close();
  });
  return { path, store, partition, raw };
}

/** A vector that only its number has. */
export function vectorOf(number: number, dimensions: number): Float32Array {
  return Float32Array.from(
    { length: dimensions },
    (_, index) => Math.sin(number * 1.7 + index * 0.9) + (index === number % dimensions ? 1 : 0),
  );
}

export function recordsOf(count: number, dimensions: number, from = 0) {
  return Array.from({ length: count }, (_, index) => ({
    id: `r${from + index}`,
    vector: vectorOf(from + index, dimensions),
    properties: { n: from + index },
  }));
}
