import type { OptionNames } from "./contract/option-names.ts";
import { assertSchema, type PropertySchema } from "./contract/properties.ts";
import type { Database } from "./database/database.ts";
import { openDatabase } from "./database/open-database.ts";
import { assertEmbedder } from "./embedding/assert-embedder.ts";
import type { Embedder } from "./embedding/embedder.ts";
import { createMiniLmEmbedder } from "./embedding/providers/minilm.ts";
import { HoldfastError } from "./errors/index.ts";
import { systemClock } from "./io/clock.ts";
import type { Memory } from "./memory/contract.ts";
import { MemoryCore } from "./memory/core.ts";
import { declareKeys, hasUndeclared } from "./memory/declared-keys.ts";
import { assertDerivation, type Derivation } from "./memory/derivation.ts";
import type { Summarise } from "./memory/log-contract.ts";
import { MemoryHandle, TENANT_BYTES } from "./memory/memory.ts";
import { EMBED_TIMEOUT_MS, Pipeline, QUERY_TIMEOUT_MS } from "./memory/pipeline.ts";
import { assertSegmentation, type Segmentation } from "./memory/segmentation.ts";
import { createTenantRow, findTenantRow } from "./memory/tenants.ts";
import { isTextIndexCurrent, renewTextIndex } from "./memory/text-index-version.ts";
import { assertPlace, PLACE_OPTIONS, type PlaceOptions } from "./place.ts";
import { DATABASE_PLAN, WORKER_URL } from "./plan.ts";
import type { Reranker } from "./reranking/reranker.ts";

export type MemoryOptions = PlaceOptions & {
  /** Turns texts into vectors; default all-MiniLM-L6-v2, offline, in a thread of its own. Closed with the memory. */
  readonly embedder?: Embedder;
  /** Orders the best hits of a recall with `rerank`; none by default. */
  readonly reranker?: Reranker;
  /** Makes the rolling summaries that `session.updateSummary` keeps. */
  readonly summarise?: Summarise;
  /**
   * How long one call of the embedder may take, in ms, above 0; default 120,000. Then it counts as failed: events are kept
   * and embedded later (S7).
   */
  readonly embedTimeoutMs?: number;
  /** How long a recall waits for its question's vector, in ms, above 0; default 5,000. Then words answer alone and say so (S7). */
  readonly queryTimeoutMs?: number;
  /** How texts are cut; default `whole`. Acts on what is remembered from now on. */
  readonly segmenter?: Segmentation;
  /** What is embedded of a segment; default `segment`. Acts on what is remembered from now on. */
  readonly derive?: Derivation;
  /**
   * Keys of events, by name, that lie as typed columns beside the vectors, so that filters on them act during the scan (S4):
   * `{ topic: "string", year: "int" }`. Names match `[a-z0-9_]{1,32}`. A later open may declare more; types are fixed.
   */
  readonly properties?: PropertySchema;
};

const MEMORY_OPTIONS: OptionNames<MemoryOptions> = {
  ...PLACE_OPTIONS,
  embedder: true,
  reranker: true,
  segmenter: true,
  derive: true,
  properties: true,
  embedTimeoutMs: true,
  queryTimeoutMs: true,
  summarise: true,
};

/** The longest delay of a timer (2^31 − 1 ms). */
const TIMEOUT_MAX_MS = 2_147_483_647;

const DEFAULT_TENANT = "default";

/**
 * Opens a memory in a folder, making it where there is none; several processes may do so at once.
 *
 * @throws NOT_FOUND and READ_ONLY (with `readOnly`), FOREIGN_STORAGE, DAMAGED, FORMAT_TOO_NEW, UNSUPPORTED_FILESYSTEM, PACKAGE_MISSING, BUSY, INVALID_ARGUMENT,
 *   INVALID_NAME, LIMIT_EXCEEDED, PARTITION_SCHEMA_MISMATCH (a key is declared with another type)
 */
export async function openMemory(path: string, options?: Omit<MemoryOptions, "path" | "inMemory">): Promise<Memory>;
export async function openMemory(options: MemoryOptions): Promise<Memory>;
export async function openMemory(
  place: string | MemoryOptions,
  rest: Omit<MemoryOptions, "path" | "inMemory"> = {},
): Promise<Memory> {
  const options: MemoryOptions = typeof place === "string" ? { ...rest, path: place } : place;
  assertPlace(options, MEMORY_OPTIONS, "openMemory");
  const embedder = options.embedder ?? createMiniLmEmbedder();
  assertEmbedder(embedder);
  if (options.summarise !== undefined && typeof options.summarise !== "function")
    throw new HoldfastError("INVALID_ARGUMENT", "summarise is a function of { previous, events } that answers a text.");
  if (options.reranker !== undefined) assertReranker(options.reranker);
  const hooks = { clock: systemClock, summarise: options.summarise, reranker: options.reranker };
  const { segmenter = "whole", derive = "segment" } = options;
  const embedTimeoutMs = toTimeout(options.embedTimeoutMs, "embedTimeoutMs", EMBED_TIMEOUT_MS);
  const queryTimeoutMs = toTimeout(options.queryTimeoutMs, "queryTimeoutMs", QUERY_TIMEOUT_MS);
  assertSegmentation(segmenter);
  assertDerivation(derive);
  const { properties = {} } = options;
  assertSchema(properties);
  const open = openDatabase(options, DATABASE_PLAN, WORKER_URL);
  const pipeline = new Pipeline(embedder, { segmenter, derive, embedTimeoutMs, queryTimeoutMs });
  const release = async (withinMs?: number): Promise<void> => {
    await open.release(withinMs);
    await pipeline.close();
  };
  try {
    const { database } = open;
    await database.started();
    const call = { sizeBytes: TENANT_BYTES };
    const tenant =
      database.lookup(findTenantRow, DEFAULT_TENANT) ??
      (
        await prepare(database, "has no memory yet", () =>
          database.write(createTenantRow, { id: DEFAULT_TENANT, keyed: undefined }, call),
        )
      ).life;
    if (!database.lookup(isTextIndexCurrent, null))
      await prepare(database, "has words as another version reads them", () =>
        database.write(renewTextIndex, null, call),
      );
    if (database.lookup(hasUndeclared, properties))
      await prepare(database, "does not declare these properties", () =>
        database.write(declareKeys, { ...properties }, call),
      );
    return new MemoryHandle(new MemoryCore(database, pipeline, hooks), tenant, release);
  } catch (error) {
    // The first error is the one that the caller can do something about.
    await release().catch(() => undefined);
    throw error;
  }
}

/** What an open makes where it is missing, and one that only reads cannot. */
function prepare<T>({ settings }: Database, what: string, make: () => Promise<T>): Promise<T> {
  if (!settings.readOnly) return make();
  const message = `${settings.path} ${what}, and is opened for reading only; open it once without readOnly.`;
  throw new HoldfastError("READ_ONLY", message, { details: { path: settings.path } });
}

function assertReranker(reranker: unknown): void {
  const { name, rerank } = (reranker ?? {}) as Partial<Reranker>;
  if (typeof name === "string" && name !== "" && typeof rerank === "function") return;
  throw new HoldfastError("INVALID_ARGUMENT", "A reranker has a name and rerank({ query, documents, signal }).");
}

function toTimeout(value: unknown, name: string, byDefault: number): number {
  if (value === undefined) return byDefault;
  if (typeof value === "number" && value > 0 && value <= TIMEOUT_MAX_MS) return Math.ceil(value);
  throw new HoldfastError("INVALID_ARGUMENT", `${name} is a number above 0 and at most ${TIMEOUT_MAX_MS}.`);
}
