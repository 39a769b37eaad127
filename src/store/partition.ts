import { LIMITS } from "../contract/limits.ts";
import { assertId } from "../contract/names.ts";
import { assertOptions, CALL_OPTIONS, WRITE_OPTIONS } from "../contract/option-names.ts";
import { bindPatch, type PropertyInput, type PropertySchema, type PropertyValues } from "../contract/properties.ts";
import { readValue } from "../contract/property-values.ts";
import type {
  CallOptions,
  DeleteOptions,
  DeleteReceipt,
  DeleteSelection,
  Match,
  Partition,
  QueryAnswer,
  QueryManyRequest,
  QueryRequest,
  RecordInput,
  ScanOptions,
  ScanPage,
  StoredRecord,
  UpsertReceipt,
  WriteOptions,
  WriteReceipt,
} from "../contract/store.ts";
import type { VectorInput } from "../contract/vector.ts";
import type { Where } from "../contract/where.ts";
import { withDeadline } from "../database/call.ts";
import { HoldfastError } from "../errors/index.ts";
import { type BoundFilter, bindWhere, type FilterSchema, foldsToAll } from "../filter/index.ts";
import { giveWay } from "../io/clock.ts";
import type { BackendMatch, BackendPartition, BackendRecord } from "./backend.ts";
import { assertArray, assertCount, toBatch, toIdBatch } from "./batch.ts";
import {
  COUNT_OPTIONS,
  DELETE_OPTIONS,
  GET_OPTIONS,
  QUERY_MANY_REQUEST,
  QUERY_REQUEST,
  SCAN_OPTIONS,
} from "./options.ts";
import { toQuery, toVectors } from "./query-input.ts";

/** How a store's records are checked and read. */
export interface RecordForm {
  readonly dimensions: number;
  readonly properties: PropertySchema;
  readonly filterSchema: FilterSchema;
  readonly int64: "number" | "bigint";
}

const DEFAULT_PAGE_SIZE = 1_000;

/** Ids read at once: unpacking many more records would hold the calling thread (E7). */
const GET_IDS_PER_PAGE = 1_000;

/** Matches made ready between two looks at whether others want to run. */
const MATCHES_PER_SLICE = 256;

/** Checks arguments once, fills defaults, and calls the backend with complete ones. */
export class PartitionHandle<S extends PropertySchema> implements Partition<S> {
  readonly #backend: BackendPartition;
  readonly #form: RecordForm;

  constructor(backend: BackendPartition, form: RecordForm) {
    this.#backend = backend;
    this.#form = form;
  }

  get key(): string {
    return this.#backend.key;
  }

  get incarnation(): string {
    return this.#backend.incarnation;
  }

  async upsert(records: readonly RecordInput[], options: WriteOptions = {}): Promise<UpsertReceipt> {
    assertOptions(options, WRITE_OPTIONS, "upsert");
    this.#backend.assertWritable();
    const batch = toBatch(records, this.#form);
    if (batch.records === 0) return { ids: [], inserted: 0, replaced: 0, position: this.#backend.assertLive() };
    const ids = records.map((record) => record?.id);
    const counts = await this.#backend.upsert(batch, options);
    return { ids, ...counts };
  }

  async patch(id: string, properties: PropertyInput, options: WriteOptions = {}): Promise<WriteReceipt | undefined> {
    assertOptions(options, WRITE_OPTIONS, "patch");
    this.#backend.assertWritable();
    assertId(id, "record id");
    return this.#backend.patch(id, bindPatch(this.#form.properties, properties), options);
  }

  async get(
    ids: readonly string[],
    options: CallOptions & { readonly includeVectors?: boolean } = {},
  ): Promise<readonly (StoredRecord | undefined)[]> {
    assertOptions(options, GET_OPTIONS, "get");
    assertIds(ids);
    if (ids.length === 0) this.#backend.assertLive();
    const bounds = withDeadline(options, "read");
    const records: (StoredRecord | undefined)[] = [];
    for (let start = 0; start < ids.length; start += GET_IDS_PER_PAGE) {
      const page = ids.slice(start, start + GET_IDS_PER_PAGE);
      const { schema, answer } = await this.#backend.get(page, options.includeVectors === true, bounds);
      for (const record of answer) records.push(record && this.#toStored(record, schema));
    }
    return records;
  }

  async delete(selection: DeleteSelection<S>, options: DeleteOptions = {}): Promise<DeleteReceipt> {
    assertOptions(options, DELETE_OPTIONS, "delete");
    if (options.dryRun !== true) this.#backend.assertWritable();
    const receipt = await this.#delete(selection, options);
    if (options.erase !== true || options.dryRun === true) return receipt;
    return { ...receipt, erasure: await this.#backend.erase(options) };
  }

  async count(options: CallOptions & { readonly where?: Where<S> } = {}): Promise<number> {
    assertOptions(options, COUNT_OPTIONS, "count");
    return this.#backend.count(this.#bind(options.where), options);
  }

  async *scan(options: ScanOptions<S> = {}): AsyncIterableIterator<ScanPage> {
    assertOptions(options, SCAN_OPTIONS, "scan");
    const filter = this.#bind(options.where);
    const limit = toPageSize(options.pageSize);
    const includeVectors = options.includeVectors === true;
    if (options.after !== undefined) assertId(options.after, "record id to scan behind");
    let after: string | undefined = options.after ?? "";
    while (after !== undefined) {
      const { schema, answer } = await this.#backend.scan({ filter, after, limit, includeVectors }, options);
      const records = answer.records.map((record) => this.#toStored(record, schema));
      if (records.length > 0 || answer.damaged > 0) yield { records, damaged: answer.damaged };
      after = answer.next;
    }
  }

  async query(request: QueryRequest<S>): Promise<QueryAnswer> {
    assertRequest(request);
    assertOptions(request, QUERY_REQUEST, "query");
    const { vector, ...rest } = request;
    const [answer] = await this.queryMany({ ...rest, vectors: [vector] });
    if (answer === undefined) throw new HoldfastError("BUG", "A query of one vector had no answer.");
    return answer;
  }

  async queryMany(request: QueryManyRequest<S>): Promise<readonly QueryAnswer[]> {
    assertRequest(request);
    assertOptions(request, QUERY_MANY_REQUEST, "queryMany");
    const query = toQuery(request as unknown as QueryManyRequest, this.#form.dimensions, this.#form.filterSchema);
    if (query.count === 0) {
      this.#backend.assertLive();
      return [];
    }
    const { schema, answer } = await this.#backend.query(query, request);
    const answers: QueryAnswer[] = [];
    for (const found of answer) answers.push({ ...found, matches: await this.#toMatches(found.matches, schema) });
    return answers;
  }

  async score(
    vector: VectorInput,
    ids: readonly string[],
    options: CallOptions = {},
  ): Promise<readonly (number | undefined)[]> {
    assertOptions(options, CALL_OPTIONS, "score");
    assertIds(ids);
    return this.#backend.score(toVectors([vector], this.#form.dimensions, "query vector"), ids, options);
  }

  async #delete(selection: DeleteSelection<S>, options: DeleteOptions): Promise<DeleteReceipt> {
    assertSelection(selection);
    if ("ids" in selection) {
      const batch = toIdBatch(selection.ids);
      if (options.dryRun === true) return this.#countIds(selection.ids, options);
      if (batch.ids === 0) return { deleted: 0, position: this.#backend.assertLive() };
      return this.#backend.deleteIds(batch, options);
    }
    const filter = this.#bind(selection.where);
    if (filter === undefined || foldsToAll(filter)) {
      const message = "The filter admits every record; delete the partition, or name the ids, to delete all of them.";
      throw new HoldfastError("INVALID_FILTER", message);
    }
    if (options.dryRun !== true) return this.#backend.deleteWhere(filter, options);
    const position = this.#backend.assertLive();
    return { deleted: await this.#backend.count(filter, options), position };
  }

  async #countIds(ids: readonly string[], options: CallOptions): Promise<DeleteReceipt> {
    const position = this.#backend.assertLive();
    const found = await this.get([...new Set(ids)], withDeadline(options, "read"));
    return { deleted: found.filter((record) => record !== undefined).length, position };
  }

  #bind(where: Where<S> | undefined): BoundFilter | undefined {
    return where === undefined ? undefined : bindWhere(where as Where, this.#form.filterSchema);
  }

  async #toMatches(found: readonly BackendMatch[], schema: PropertySchema): Promise<readonly Match[]> {
    const matches: Match[] = [];
    for (const [index, match] of found.entries()) {
      if (index % MATCHES_PER_SLICE === MATCHES_PER_SLICE - 1) await giveWay();
      matches.push({ ...this.#toStored(match, schema), cosineSimilarity: match.cosineSimilarity });
    }
    return matches;
  }

  #toStored(record: BackendRecord, schema: PropertySchema): StoredRecord {
    const properties: Record<string, PropertyValues[string]> = {};
    let index = 0;
    for (const key of Object.keys(schema)) {
      const [kind, value] = [schema[key], record.values[index]];
      index += 1;
      if (kind !== undefined && value !== undefined) properties[key] = readValue(kind, value, this.#form.int64);
    }
    return { id: record.id, properties, ...(record.vector && { vector: record.vector }) };
  }
}

function assertIds(ids: unknown): asserts ids is readonly string[] {
  assertArray(ids, "ids");
  assertCount(ids.length, LIMITS.idsPerCallMax, "ids of one call");
  for (const id of ids) assertId(id, "record id");
}

function assertRequest(request: unknown): void {
  if (typeof request === "object" && request !== null) return;
  throw new HoldfastError("INVALID_ARGUMENT", "A query is an object such as { vector, limit: 10 }.");
}

function assertSelection(selection: unknown): void {
  const given = typeof selection === "object" && selection !== null ? Object.keys(selection) : [];
  if (given.length === 1 && (given[0] === "ids" || given[0] === "where")) return;
  throw new HoldfastError("INVALID_ARGUMENT", "Say what to delete with exactly one of { ids } and { where }.");
}

function toPageSize(pageSize: unknown): number {
  const value = pageSize ?? DEFAULT_PAGE_SIZE;
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= LIMITS.scanPageMax) return Number(value);
  throw new HoldfastError("INVALID_ARGUMENT", `pageSize is a whole number from 1 to ${LIMITS.scanPageMax}.`);
}
