import type { BoundValue } from "../../contract/property-values.ts";
import type { CallOptions, Erasure, WriteOptions, WriteReceipt } from "../../contract/store.ts";
import { behindCommit } from "../../database/call.ts";
import type { Database } from "../../database/database.ts";
import type { BoundFilter } from "../../filter/index.ts";
import { giveWay } from "../../io/clock.ts";
import type { SentPart } from "../../io/sent-part.ts";
import { namedKey } from "../../registry/keyed-call.ts";
import type { Life } from "../../registry/lives.ts";
import type {
  Answered,
  BackendAnswer,
  BackendPage,
  BackendPartition,
  BackendQuery,
  BackendRecord,
  BackendScan,
  DeleteCounts,
  IdBatch,
  RecordBatch,
  UpsertCounts,
} from "../../store/backend.ts";
import { textBytes } from "../../store/batch.ts";
import { assertLife } from "./lifecycle.ts";
import { unpackMatches } from "./packed-matches.ts";
import { queryRecords, scoreRecords } from "./queries.ts";
import { countRecords, getRecords, scanRecords } from "./reads.ts";
import { eraseLog } from "./reclaimer.ts";
import type { RecordPart } from "./records.ts";
import { deleteRecords, patchRecord, upsertRecords } from "./writes.ts";

/** Ids looked up on the calling thread: about a millisecond of reads by key. More go to the reader thread. */
const LOOKUP_IDS_MAX = 64;

const ID_BYTES = 64;
const SMALL_WRITE_BYTES = 1_024;

/** Turns each call into one operation of the folder's threads. */
export class EmbeddedPartition implements BackendPartition {
  readonly #database: Database;
  readonly #life: Life;
  readonly #dimensions: number;
  readonly #keys: readonly string[];
  readonly #assertOpen: () => void;

  // biome-ignore lint/complexity/useMaxParams: made in one place; the five are what a life needs.
  constructor(database: Database, life: Life, dimensions: number, keys: readonly string[], assertOpen: () => void) {
    this.#database = database;
    this.#life = life;
    this.#dimensions = dimensions;
    this.#keys = keys;
    this.#assertOpen = assertOpen;
  }

  get key(): string {
    return this.#life.key;
  }

  get incarnation(): string {
    return this.#life.incarnation;
  }

  assertLive(): number {
    this.#assertOpen();
    return this.#database.lookup(assertLife, this.#life);
  }

  assertWritable(): void {
    this.#assertOpen();
    this.#database.assertWritable();
  }

  async upsert(batch: RecordBatch, options: WriteOptions): Promise<UpsertCounts> {
    this.#assertOpen();
    const named = namedKey(options, this.#database);
    const input = { life: this.#life, dimensions: this.#dimensions, keys: this.#keys, named };
    return this.#database.write(upsertRecords, input, {
      ...options,
      sizeBytes: batch.sizeBytes,
      parts: recordParts(batch),
    });
  }

  async patch(
    id: string,
    changes: ReadonlyMap<string, BoundValue | null>,
    options: WriteOptions,
  ): Promise<WriteReceipt | undefined> {
    this.#assertOpen();
    const call = { ...options, sizeBytes: SMALL_WRITE_BYTES + textBytes(changes.values()) };
    const named = namedKey(options, this.#database);
    const position = await this.#database.write(patchRecord, { life: this.#life, id, changes, named }, call);
    return position === undefined ? undefined : { position };
  }

  async get(
    ids: readonly string[],
    includeVectors: boolean,
    options: CallOptions,
  ): Promise<Answered<readonly (BackendRecord | undefined)[]>> {
    this.#assertOpen();
    await giveWay();
    const input = { life: this.#life, ids, includeVectors };
    const small = ids.length <= LOOKUP_IDS_MAX;
    const found = small
      ? this.#database.lookup(getRecords, input, options)
      : await this.#database.read(getRecords, input, options);
    return { schema: found.schema, answer: found.records };
  }

  async deleteIds(batch: IdBatch, options: WriteOptions): Promise<DeleteCounts> {
    this.#assertOpen();
    const call = { ...options, sizeBytes: batch.ids * ID_BYTES, parts: idParts(batch) };
    const named = namedKey(options, this.#database);
    return this.#database.write(deleteRecords, { life: this.#life, filter: undefined, named }, call);
  }

  async deleteWhere(filter: BoundFilter, options: WriteOptions): Promise<DeleteCounts> {
    this.#assertOpen();
    const named = namedKey(options, this.#database);
    const call = { ...options, sizeBytes: SMALL_WRITE_BYTES };
    return this.#database.write(deleteRecords, { life: this.#life, filter, named }, call);
  }

  async erase(_options: CallOptions): Promise<Erasure> {
    return behindCommit(this.#eraseLog());
  }

  async #eraseLog(): Promise<Erasure> {
    this.#assertOpen();
    return eraseLog(this.#database);
  }

  async count(filter: BoundFilter | undefined, options: CallOptions): Promise<number> {
    this.#assertOpen();
    return this.#database.read(countRecords, { life: this.#life, filter }, options);
  }

  async scan(page: BackendScan, options: CallOptions): Promise<Answered<BackendPage>> {
    this.#assertOpen();
    const { schema, ...answer } = await this.#database.read(scanRecords, { life: this.#life, ...page }, options);
    return { schema, answer };
  }

  async query(query: BackendQuery, options: CallOptions): Promise<Answered<readonly BackendAnswer[]>> {
    this.#assertOpen();
    const { schema, answer } = await this.#database.read(queryRecords, { life: this.#life, query }, options);
    const answers: BackendAnswer[] = [];
    for (const packed of answer) answers.push({ ...packed, matches: await unpackMatches(packed.matches) });
    return { schema, answer: answers };
  }

  async score(
    vector: Float32Array,
    ids: readonly string[],
    options: CallOptions,
  ): Promise<readonly (number | undefined)[]> {
    this.#assertOpen();
    return this.#database.read(scoreRecords, { life: this.#life, vector, ids }, options);
  }
}

/** The vectors move to the writer's thread; they are copies of the caller's. */
async function* recordParts(batch: RecordBatch): AsyncGenerator<SentPart & { readonly part: RecordPart }> {
  for await (const slice of batch.slices) yield { part: slice, transfer: [slice.vectors.buffer] };
}

async function* idParts(batch: IdBatch): AsyncGenerator<SentPart & { readonly part: readonly string[] }> {
  for await (const slice of batch.slices) yield { part: slice, transfer: [] };
}
