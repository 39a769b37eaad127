import { type BoundProperties, kindOf, type PropertySchema } from "../contract/properties.ts";
import type { BoundValue } from "../contract/property-values.ts";
import { HoldfastError } from "../errors/index.ts";
import { type ColumnStorage, createStorage } from "./column-storage.ts";

const CAPACITY_MIN = 256;

/** The declared properties of the rows of a resident partition, as typed columns. Rows are appended, never changed. */
export class Columns {
  readonly schema: PropertySchema;
  readonly #storages: readonly ColumnStorage[];
  readonly #byName: ReadonlyMap<string, ColumnStorage>;
  #length = 0;
  #capacity = 0;

  /** @param capacity - rows to have room for from the start */
  constructor(schema: PropertySchema, capacity = 0) {
    this.schema = schema;
    const names = Object.keys(schema);
    this.#storages = names.map((name) => createStorage(kindOf(schema, name) ?? "string"));
    this.#byName = new Map(this.#storages.map((storage, index) => [names[index] ?? "", storage]));
    this.reserve(capacity);
  }

  /** Rows. */
  get length(): number {
    return this.#length;
  }

  /** Bytes held, dictionaries included by estimate. */
  get byteLength(): number {
    return this.#storages.reduce((bytes, storage) => bytes + storage.byteLength(), 0);
  }

  /** Makes room for `capacity` rows in all, so that appending up to there copies nothing. */
  reserve(capacity: number): void {
    if (capacity <= this.#capacity) return;
    for (const storage of this.#storages) storage.reserve(capacity);
    this.#capacity = capacity;
  }

  /**
   * Appends one row: a value for each key of the schema, in its order, `undefined` for none.
   *
   * @returns its row number, from 0
   */
  append(values: BoundProperties): number {
    const row = this.#length;
    if (values.length !== this.#storages.length) {
      throw new HoldfastError(
        "BUG",
        `A row has ${values.length} values for ${this.#storages.length} columns; please report it.`,
      );
    }
    if (row === this.#capacity) this.reserve(Math.max(CAPACITY_MIN, row * 2));
    for (let index = 0; index < values.length; index += 1) this.#storages[index]?.set(row, values[index]);
    this.#length = row + 1;
    return row;
  }

  /** The bound value of a row; `undefined` for none. */
  get(name: string, row: number): BoundValue | undefined {
    return row < this.#length ? this.storage(name).get(row) : undefined;
  }

  /** The arrays of one property, for the column filter. */
  storage(name: string): ColumnStorage {
    const storage = this.#byName.get(name);
    if (storage === undefined)
      throw new HoldfastError("BUG", "A bound filter names a column that is not there; please report it.");
    return storage;
  }
}
