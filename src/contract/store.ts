/// <reference lib="esnext.disposable" preserve="true" />
import type { BackupOptions, BackupReceipt } from "./backup.ts";
import type { Capabilities } from "./capabilities.ts";
import type { DeclaredInput, PropertySchema, PropertyValues } from "./properties.ts";
import type { VectorInput } from "./vector.ts";
import type { Where } from "./where.ts";

/** Options of every call that may take long (Q11). */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** In milliseconds, from the call; above 0. No bound by default. */
  readonly timeoutMs?: number;
}

/** Options of every call that changes something. */
export interface WriteOptions extends CallOptions {
  /**
   * 1–512 UTF-8 bytes, of your choice: the same call with the same input and key does its work once and answers what it
   * answered first, also after a restart and from other processes, for `receiptRetentionMs` of the open call (7 days by
   * default). With another input it raises IDEMPOTENCY_CONFLICT (V17).
   */
  readonly idempotencyKey?: string;
}

/** A record as it is written: an id, a vector of the store's dimensions, declared properties. */
export interface RecordInput<S extends PropertySchema = PropertySchema> {
  /** A UUID or free text of 1–512 UTF-8 bytes. */
  readonly id: string;
  /** Shape [dimensions], float32, finite, norm ≥ 2^−126. */
  readonly vector: VectorInput;
  /** Absent, `null` and `undefined` are one state: no value (V9). */
  readonly properties?: DeclaredInput<S>;
}

/** A record as it is read. */
export interface StoredRecord {
  readonly id: string;
  /** Declared properties that have a value. */
  readonly properties: PropertyValues;
  /** The float32 values as written; only when asked for (`includeVectors`). */
  readonly vector?: Float32Array;
}

export interface Match extends StoredRecord {
  /** In [−1, 1], accumulated in float64 (Q1). */
  readonly cosineSimilarity: number;
}

export interface QueryOptions<S extends PropertySchema = PropertySchema> extends CallOptions {
  /** Count, 0…10,000; default 10. */
  readonly limit?: number;
  readonly where?: Where<S>;
  /** In [−1, 1], inclusive (Q2). */
  readonly minCosineSimilarity?: number;
  readonly includeVectors?: boolean;
  /** `true` asks for a provably exact answer (Q7). */
  readonly exact?: true;
}

export interface QueryRequest<S extends PropertySchema = PropertySchema> extends QueryOptions<S> {
  readonly vector: VectorInput;
}

export interface QueryManyRequest<S extends PropertySchema = PropertySchema> extends QueryOptions<S> {
  readonly vectors: readonly VectorInput[];
}

export interface QueryAnswer {
  /** Best first, ties by id in UTF-8 byte order (Q3). */
  readonly matches: readonly Match[];
  /** `true` when this is provably the exact nearest admitted set (Q7). */
  readonly exact: boolean;
  /** The partition's commit counter at the moment that the answer is of (Q9). */
  readonly position: number;
  /** Rows that were left out because their checksum did not hold (E11). */
  readonly damaged: number;
}

/** What a write answers. */
export interface WriteReceipt {
  /** The partition's commit counter after the write. */
  readonly position: number;
}

export interface UpsertReceipt extends WriteReceipt {
  /** The ids as written, in input order. */
  readonly ids: readonly string[];
  readonly inserted: number;
  readonly replaced: number;
}

export interface DeleteOptions extends WriteOptions {
  /** Counts what would be deleted and deletes nothing. */
  readonly dryRun?: boolean;
  /** Returns only when the deleted bytes have left the files, or says `pending` (E14, G1). */
  readonly erase?: boolean;
}

export interface DeleteReceipt extends WriteReceipt {
  /** Records deleted, or that a dry run would delete. */
  readonly deleted: number;
  /** Only with `erase`: whether the bytes have left the files. */
  readonly erasure?: Erasure;
}

/** `pending`: something still reads an older state; the bytes go when it ends and the next checkpoint runs. */
export type Erasure = "complete" | "pending";

export type DeleteSelection<S extends PropertySchema = PropertySchema> =
  | { readonly ids: readonly string[] }
  | { readonly where: Where<S> };

export interface ScanOptions<S extends PropertySchema = PropertySchema> extends CallOptions {
  readonly where?: Where<S>;
  readonly includeVectors?: boolean;
  /** Rows of a page, 1…10,000; default 1,000. */
  readonly pageSize?: number;
  /** Starts behind this id. */
  readonly after?: string;
}

export interface ScanPage {
  readonly records: readonly StoredRecord[];
  /** Rows of the page that were left out because their checksum did not hold (E11). */
  readonly damaged: number;
}

/** One tenant's records in a store, bound to one life (P8): after its deletion every call raises PARTITION_STALE. */
export interface Partition<S extends PropertySchema = PropertySchema> {
  readonly key: string;
  /** UUID of this life. */
  readonly incarnation: string;
  /** Writes whole records, one commit whatever the size (V11, V14). */
  upsert(records: readonly RecordInput<S>[], options?: WriteOptions): Promise<UpsertReceipt>;
  /** Changes properties alone; `null` removes one. Answers `undefined` when the id is unknown (V11). */
  patch(id: string, properties: DeclaredInput<S>, options?: WriteOptions): Promise<WriteReceipt | undefined>;
  /** Answers in input order, `undefined` for ids that are not there. More than 1,000 are read in pages, each of one moment. */
  get(
    ids: readonly string[],
    options?: CallOptions & { readonly includeVectors?: boolean },
  ): Promise<readonly (StoredRecord | undefined)[]>;
  /** Deletes by ids or by filter; a filter that admits everything is refused (F3). Unknown ids are no error (V16). */
  delete(selection: DeleteSelection<S>, options?: DeleteOptions): Promise<DeleteReceipt>;
  /** Records, or those that a filter admits. */
  count(options?: CallOptions & { readonly where?: Where<S> }): Promise<number>;
  /**
   * Every record in pages, ordered by id in UTF-8 bytes. A record that is there from start to end
   * is answered exactly once; each page is of one moment.
   */
  scan(options?: ScanOptions<S>): AsyncIterableIterator<ScanPage>;
  /** The records nearest to a vector by cosine, best first; of those that a filter admits, if one is given (Q1). */
  query(request: QueryRequest<S>): Promise<QueryAnswer>;
  /** One answer a vector, in input order, all of one moment (Q4). */
  queryMany(request: QueryManyRequest<S>): Promise<readonly QueryAnswer[]>;
  /** Cosine of `vector` with each id's record, in input order; `undefined` for ids that are not there. */
  score(vector: VectorInput, ids: readonly string[], options?: CallOptions): Promise<readonly (number | undefined)[]>;
}

export interface PartitionInfo {
  readonly key: string;
  readonly incarnation: string;
  readonly records: number;
  readonly position: number;
}

/** One named collection of vectors; `await using` closes it (E12). */
export interface Store<S extends PropertySchema = PropertySchema> extends AsyncDisposable {
  readonly name: string;
  readonly dimensions: number;
  readonly properties: S;
  readonly capabilities: Capabilities;
  /** Strict: raises PARTITION_ALREADY_EXISTS when the key is taken; of racing calls one wins (P2). */
  createPartition(key: string, options?: WriteOptions): Promise<Partition<S>>;
  /** A handle bound to the partition's present life, or `undefined` (P3). */
  getPartition(key: string, options?: CallOptions): Promise<Partition<S> | undefined>;
  /** All partitions of the store. */
  listPartitions(options?: CallOptions): Promise<readonly PartitionInfo[]>;
  /** Idempotent; unreachable in every process when it returns (P7). Answers whether there was one. */
  deletePartition(
    key: string,
    options?: WriteOptions & { readonly erase?: boolean },
  ): Promise<{ readonly deleted: boolean; readonly erasure?: Erasure }>;
  /**
   * Backs up the folder that the store lies in, all that it holds with it, while reads and writes go on: a copy of one
   * moment, opened and checked. The new folder appears under its name when all of it is on the disk; `restore` reads it.
   *
   * @throws ALREADY_EXISTS, INVALID_ARGUMENT, DISK_FULL, READ_ONLY (the target's folder), DAMAGED, ABORTED, TIMEOUT
   */
  backup(target: string, options?: BackupOptions): Promise<BackupReceipt>;
  /** Idempotent; waits for writes in flight, at most 10 s; later calls raise CLOSED (E12). */
  close(): Promise<void>;
}
