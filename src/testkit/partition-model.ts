import {
  bindPatch,
  bindProperties,
  type PropertyInput,
  type PropertySchema,
  type PropertyValues,
} from "../contract/properties.ts";
import { type BoundValue, readValue } from "../contract/property-values.ts";
import type { Match, RecordInput, StoredRecord } from "../contract/store.ts";
import { compareUtf8 } from "../contract/text.ts";
import type { VectorInput } from "../contract/vector.ts";
import type { Where } from "../contract/where.ts";
import { bindWhere, evaluate } from "../filter/index.ts";

export interface ModelOptions {
  readonly properties: PropertySchema;
  /** The cosine of two vectors of float32 values; a plain float64 sum where none is given. */
  readonly cosine?: (a: Float32Array, b: Float32Array) => number;
}

interface ModelRecord {
  readonly vector: Float32Array;
  readonly values: ReadonlyMap<string, BoundValue>;
}

/** One life of a partition as a plain Map: what a store has to answer, with nothing between the question and the definition. */
export class PartitionModel {
  readonly #schema: PropertySchema;
  readonly #cosine: (a: Float32Array, b: Float32Array) => number;
  readonly #records = new Map<string, ModelRecord>();

  constructor(options: ModelOptions) {
    this.#schema = options.properties;
    this.#cosine = options.cosine ?? plainCosine;
  }

  get size(): number {
    return this.#records.size;
  }

  /** Answers how many records were new. */
  upsert(records: readonly RecordInput[]): number {
    const before = this.#records.size;
    for (const { id, vector, properties } of records) {
      const bound = bindProperties(this.#schema, properties);
      const values = new Map<string, BoundValue>();
      for (const [index, key] of Object.keys(this.#schema).entries()) {
        const value = bound[index];
        if (value !== undefined) values.set(key, value);
      }
      this.#records.set(id, { vector: Float32Array.from(vector), values });
    }
    return this.#records.size - before;
  }

  /** Answers whether the id is known. */
  patch(id: string, properties: PropertyInput): boolean {
    const record = this.#records.get(id);
    if (record === undefined) return false;
    const values = new Map(record.values);
    for (const [key, value] of bindPatch(this.#schema, properties)) {
      if (value === null) values.delete(key);
      else values.set(key, value);
    }
    this.#records.set(id, { vector: record.vector, values });
    return true;
  }

  /** Answers how many records there were. */
  delete(ids: readonly string[]): number {
    const before = this.#records.size;
    for (const id of ids) this.#records.delete(id);
    return before - this.#records.size;
  }

  get(id: string, includeVector = false): StoredRecord | undefined {
    const record = this.#records.get(id);
    if (record === undefined) return undefined;
    return { id, properties: this.#read(record), ...(includeVector && { vector: record.vector }) };
  }

  /** The ids that the filter admits, in the order of their UTF-8 bytes. */
  admitted(where?: Where): readonly string[] {
    const schema = { declared: this.#schema, userKeys: false };
    const filter = where === undefined ? undefined : bindWhere(where, schema);
    const ids: string[] = [];
    for (const [id, { values }] of this.#records) {
      if (filter === undefined || evaluate(filter, { value: (name) => values.get(name) })) ids.push(id);
    }
    return ids.sort(compareUtf8);
  }

  query(request: {
    readonly vector: VectorInput;
    readonly limit: number;
    readonly where?: Where;
    readonly minCosineSimilarity?: number;
  }): readonly Match[] {
    const vector = Float32Array.from(request.vector);
    const matches: Match[] = [];
    for (const id of this.admitted(request.where)) {
      const record = this.#records.get(id);
      if (record === undefined) continue;
      const cosineSimilarity = this.#cosine(vector, record.vector);
      if (cosineSimilarity < (request.minCosineSimilarity ?? -1)) continue;
      matches.push({ id, properties: this.#read(record), cosineSimilarity });
    }
    // Ids are in order already, and sorting is stable.
    return matches.sort((a, b) => b.cosineSimilarity - a.cosineSimilarity).slice(0, request.limit);
  }

  #read({ values }: ModelRecord): PropertyValues {
    const properties: Record<string, PropertyValues[string]> = {};
    for (const [key, kind] of Object.entries(this.#schema)) {
      const value = values.get(key);
      if (value !== undefined) properties[key] = readValue(kind, value, "number");
    }
    return properties;
  }
}

function plainCosine(a: Float32Array, b: Float32Array): number {
  let [dot, left, right] = [0, 0, 0];
  for (const [axis, x] of a.entries()) {
    const y = b[axis] ?? 0;
    dot += x * y;
    left += x * x;
    right += y * y;
  }
  return Math.min(1, Math.max(-1, dot / (Math.sqrt(left) * Math.sqrt(right))));
}
