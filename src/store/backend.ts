import type { BackupOptions, BackupReceipt } from "../contract/backup.ts";
import type { Capabilities } from "../contract/capabilities.ts";
import type { BoundProperties, PropertySchema } from "../contract/properties.ts";
import type { BoundValue } from "../contract/property-values.ts";
import type { CallOptions, Erasure, PartitionInfo, WriteOptions, WriteReceipt } from "../contract/store.ts";
import type { BoundFilter } from "../filter/index.ts";

/** Records of one slice of a batch: validated, bound and copied. */
export interface RecordSlice {
  readonly ids: readonly string[];
  /** Shape [ids.length × dimensions]. */
  readonly vectors: Float32Array<ArrayBuffer>;
  /** In the order of the schema's keys. */
  readonly values: readonly BoundProperties[];
}

/** A batch on its way: its slices are made, and checked, while the first ones travel. */
export interface RecordBatch {
  readonly records: number;
  readonly sizeBytes: number;
  readonly slices: AsyncIterable<RecordSlice>;
}

/** Ids on their way, as {@link RecordBatch}: each once. */
export interface IdBatch {
  /** Ids as they were given. */
  readonly ids: number;
  readonly slices: AsyncIterable<readonly string[]>;
}

export interface BackendRecord {
  readonly id: string;
  readonly values: BoundProperties;
  readonly vector: Float32Array | undefined;
}

export interface BackendMatch extends BackendRecord {
  readonly cosineSimilarity: number;
}

export interface BackendAnswer {
  readonly matches: readonly BackendMatch[];
  readonly exact: boolean;
  readonly position: number;
  readonly damaged: number;
}

/** Records with the schema that their values follow: another process may have declared keys meanwhile. */
export interface Answered<T> {
  readonly schema: PropertySchema;
  readonly answer: T;
}

export interface BackendQuery {
  /** Shape [count × dimensions]. */
  readonly vectors: Float32Array;
  readonly count: number;
  readonly limit: number;
  readonly filter: BoundFilter | undefined;
  readonly minCosineSimilarity: number;
  readonly includeVectors: boolean;
  readonly exact: boolean;
}

export interface BackendScan {
  readonly filter: BoundFilter | undefined;
  readonly after: string;
  readonly limit: number;
  readonly includeVectors: boolean;
}

export interface BackendPage {
  readonly records: readonly BackendRecord[];
  readonly damaged: number;
  readonly next: string | undefined;
}

export interface UpsertCounts extends WriteReceipt {
  readonly inserted: number;
  readonly replaced: number;
}

export interface DeleteCounts extends WriteReceipt {
  readonly deleted: number;
}

/** One life of a partition as its backend keeps it; every argument is complete and checked. */
export interface BackendPartition {
  readonly key: string;
  readonly incarnation: string;
  assertLive(): number;
  /** Raises READ_ONLY for a store that only reads; the first line of what changes something. */
  assertWritable(): void;
  upsert(batch: RecordBatch, options: WriteOptions): Promise<UpsertCounts>;
  patch(
    id: string,
    changes: ReadonlyMap<string, BoundValue | null>,
    options: WriteOptions,
  ): Promise<WriteReceipt | undefined>;
  get(
    ids: readonly string[],
    includeVectors: boolean,
    options: CallOptions,
  ): Promise<Answered<readonly (BackendRecord | undefined)[]>>;
  deleteIds(ids: IdBatch, options: WriteOptions): Promise<DeleteCounts>;
  deleteWhere(filter: BoundFilter, options: WriteOptions): Promise<DeleteCounts>;
  /** Waits until what was deleted before has left the medium, or says that it has not yet. */
  erase(options: CallOptions): Promise<Erasure>;
  count(filter: BoundFilter | undefined, options: CallOptions): Promise<number>;
  scan(page: BackendScan, options: CallOptions): Promise<Answered<BackendPage>>;
  query(query: BackendQuery, options: CallOptions): Promise<Answered<readonly BackendAnswer[]>>;
  score(vector: Float32Array, ids: readonly string[], options: CallOptions): Promise<readonly (number | undefined)[]>;
}

/** A store as its backend keeps it. */
export interface StoreBackend {
  readonly name: string;
  readonly dimensions: number;
  readonly properties: PropertySchema;
  readonly capabilities: Capabilities;
  assertOpen(): void;
  createPartition(key: string, options: WriteOptions): Promise<BackendPartition>;
  getPartition(key: string, options: CallOptions): Promise<BackendPartition | undefined>;
  listPartitions(options: CallOptions): Promise<readonly PartitionInfo[]>;
  deletePartition(
    key: string,
    erase: boolean,
    options: WriteOptions,
  ): Promise<{ readonly deleted: boolean; readonly erasure?: Erasure }>;
  /** Copies all that the store's medium holds into a new folder (O2). */
  backup(target: string, options: BackupOptions): Promise<BackupReceipt>;
  close(): Promise<void>;
}
