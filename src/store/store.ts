import type { BackupOptions, BackupReceipt } from "../contract/backup.ts";
import type { Capabilities } from "../contract/capabilities.ts";
import { assertName } from "../contract/names.ts";
import { assertOptions, CALL_OPTIONS, WRITE_OPTIONS } from "../contract/option-names.ts";
import type { PropertySchema } from "../contract/properties.ts";
import type { CallOptions, Erasure, Partition, PartitionInfo, Store, WriteOptions } from "../contract/store.ts";
import type { StoreBackend } from "./backend.ts";
import { DELETE_PARTITION_OPTIONS } from "./options.ts";
import { PartitionHandle, type RecordForm } from "./partition.ts";

/** The public store over any backend. */
export class StoreHandle<S extends PropertySchema> implements Store<S> {
  readonly #backend: StoreBackend;
  readonly #form: RecordForm;

  constructor(backend: StoreBackend, int64: "number" | "bigint") {
    this.#backend = backend;
    const { dimensions, properties, capabilities } = backend;
    const filterSchema = { declared: properties, userKeys: false, filterNodes: capabilities.filterNodes };
    this.#form = { dimensions, properties, filterSchema, int64 };
  }

  get name(): string {
    return this.#backend.name;
  }

  get dimensions(): number {
    return this.#backend.dimensions;
  }

  get properties(): S {
    return this.#backend.properties as S;
  }

  get capabilities(): Capabilities {
    return this.#backend.capabilities;
  }

  async createPartition(key: string, options: WriteOptions = {}): Promise<Partition<S>> {
    assertOptions(options, WRITE_OPTIONS, "createPartition");
    assertName(key, "partition key");
    return new PartitionHandle<S>(await this.#backend.createPartition(key, options), this.#form);
  }

  async getPartition(key: string, options: CallOptions = {}): Promise<Partition<S> | undefined> {
    assertOptions(options, CALL_OPTIONS, "getPartition");
    assertName(key, "partition key");
    const partition = await this.#backend.getPartition(key, options);
    return partition && new PartitionHandle<S>(partition, this.#form);
  }

  async listPartitions(options: CallOptions = {}): Promise<readonly PartitionInfo[]> {
    assertOptions(options, CALL_OPTIONS, "listPartitions");
    return this.#backend.listPartitions(options);
  }

  async deletePartition(
    key: string,
    options: WriteOptions & { readonly erase?: boolean } = {},
  ): Promise<{ readonly deleted: boolean; readonly erasure?: Erasure }> {
    assertOptions(options, DELETE_PARTITION_OPTIONS, "deletePartition");
    assertName(key, "partition key");
    return this.#backend.deletePartition(key, options.erase === true, options);
  }

  async backup(target: string, options: BackupOptions = {}): Promise<BackupReceipt> {
    return this.#backend.backup(target, options);
  }

  async close(): Promise<void> {
    return this.#backend.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
