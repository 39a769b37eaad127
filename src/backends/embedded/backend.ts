import type { BackupOptions, BackupReceipt } from "../../contract/backup.ts";
import type { Capabilities } from "../../contract/capabilities.ts";
import type { PropertySchema } from "../../contract/properties.ts";
import type { CallOptions, Erasure, PartitionInfo, WriteOptions } from "../../contract/store.ts";
import { backupDatabase } from "../../database/backup.ts";
import { behindCommit, withDeadline } from "../../database/call.ts";
import { CLOSE_WAIT_MS, type Database, settledWithin } from "../../database/database.ts";
import type { OpenDatabase } from "../../database/open-database.ts";
import { HoldfastError } from "../../errors/index.ts";
import { giveWay } from "../../io/clock.ts";
import { namedKey } from "../../registry/keyed-call.ts";
import type { Life } from "../../registry/lives.ts";
import { type StoreRow, undeclaredKeys } from "../../registry/stores.ts";
import type { BackendPartition, StoreBackend } from "../../store/backend.ts";
import { embeddedCapabilities } from "./capabilities.ts";
import {
  createPartitionRow,
  deletePartitionRow,
  findPartitionRow,
  listPartitionRows,
  type OpenStoreInput,
  openStoreRow,
  readStoreRow,
} from "./lifecycle.ts";
import { EmbeddedPartition } from "./partition.ts";
import { eraseLife, Reclaimer } from "./reclaimer.ts";

/** Bytes that a small write holds in the queue. */
const SMALL_WRITE_BYTES = 256;

/** A store in one SQLite database: one transaction does what remote backends need reservations for. */
export class EmbeddedBackend implements StoreBackend {
  readonly name: string;
  readonly dimensions: number;
  readonly properties: PropertySchema;
  readonly capabilities: Capabilities;
  readonly #open: OpenDatabase;
  readonly #database: Database;
  readonly #store: StoreRow;
  readonly #reclaimer: Reclaimer;
  #closed = false;

  private constructor(open: OpenDatabase, store: StoreRow) {
    const { database } = open;
    this.name = store.name;
    this.dimensions = store.dimensions;
    this.properties = store.properties;
    this.capabilities = embeddedCapabilities(database.settings);
    this.#open = open;
    this.#database = database;
    this.#store = store;
    this.#reclaimer = new Reclaimer(database);
    if (!database.settings.readOnly) this.#reclaimer.wake();
  }

  /** Makes or opens the store in an open database; gives the database back when that fails. */
  static async open(open: OpenDatabase, input: OpenStoreInput): Promise<EmbeddedBackend> {
    try {
      await open.database.started();
      const found = open.database.lookup(readStoreRow, input.name);
      const isWhole = found !== undefined && declaresAll(found, input);
      if (!isWhole && open.database.settings.readOnly) throw notMade(found, input);
      const store = isWhole ? found : await open.database.write(openStoreRow, input, { sizeBytes: SMALL_WRITE_BYTES });
      return new EmbeddedBackend(open, store);
    } catch (error) {
      // The first error is the one that the caller can do something about.
      await open.release().catch(() => undefined);
      throw error;
    }
  }

  assertOpen(): void {
    if (this.#closed)
      throw new HoldfastError("CLOSED", "The store was closed; open it again.", { outcome: "not-applied" });
    this.#database.assertOpen();
  }

  async createPartition(key: string, options: WriteOptions): Promise<BackendPartition> {
    this.assertOpen();
    const input = { store: this.#store.store, key, named: namedKey(options, this.#database) };
    return this.#toPartition(
      await this.#database.write(createPartitionRow, input, { ...options, sizeBytes: SMALL_WRITE_BYTES }),
    );
  }

  async getPartition(key: string, options: CallOptions): Promise<BackendPartition | undefined> {
    this.assertOpen();
    await giveWay();
    const life = this.#database.lookup(findPartitionRow, { store: this.#store.store, key }, options);
    return life && this.#toPartition(life);
  }

  async listPartitions(options: CallOptions): Promise<readonly PartitionInfo[]> {
    this.assertOpen();
    return this.#database.read(listPartitionRows, this.#store.store, options);
  }

  async deletePartition(
    key: string,
    erase: boolean,
    options: WriteOptions,
  ): Promise<{ readonly deleted: boolean; readonly erasure?: Erasure }> {
    this.assertOpen();
    const input = { store: this.#store.store, key, named: namedKey(options, this.#database) };
    const bounds = withDeadline(options, "write");
    const call = { ...bounds, sizeBytes: SMALL_WRITE_BYTES };
    const tombstone = await this.#database.write(deletePartitionRow, input, call);
    if (erase) {
      const erasure = await behindCommit(eraseLife(this.#database, tombstone, bounds));
      return { deleted: tombstone !== undefined, erasure };
    }
    this.#reclaimer.wake();
    return { deleted: tombstone !== undefined };
  }

  async backup(target: string, options: BackupOptions): Promise<BackupReceipt> {
    this.assertOpen();
    return backupDatabase(this.#database, target, options);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await settledWithin([this.#reclaimer.stop()], CLOSE_WAIT_MS);
    await this.#open.release();
  }

  #toPartition(life: Life): BackendPartition {
    return new EmbeddedPartition(this.#database, life, this.dimensions, Object.keys(this.properties), () =>
      this.assertOpen(),
    );
  }
}

/** Why a store cannot be opened for reading only. */
function notMade(found: StoreRow | undefined, { name, dimensions, properties }: OpenStoreInput): HoldfastError {
  const details = { store: name };
  if (found === undefined)
    return new HoldfastError("NOT_FOUND", `The folder holds no store named "${name}".`, { details });
  const keys = undeclaredKeys(found, dimensions, properties).map(([key]) => key);
  const message = `The store "${name}" does not declare ${keys.join(", ")}, and is opened for reading only; open it once without readOnly.`;
  return new HoldfastError("READ_ONLY", message, { details });
}

function declaresAll(store: StoreRow, input: OpenStoreInput): boolean {
  return (
    store.dimensions === input.dimensions &&
    Object.entries(input.properties).every(([key, kind]) => store.properties[key] === kind)
  );
}
