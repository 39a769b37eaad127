import type { SqlValue } from "../database/connection.ts";
import type { PageFile } from "../io/page-file.ts";
import type { StoreRow } from "../registry/stores.ts";
import type { Steps } from "../verify/verification.ts";
import type { Ledger } from "./ledger.ts";
import { storesFrom } from "./salvaged-stores.ts";
import type { Staging } from "./staging.ts";
import { SchemaModel, type TableShape } from "./table-shapes.ts";
import { type DamagedPlace, TreeReader } from "./tree-reader.ts";

/** Made anew, or of no meaning to another database. */
const NOT_KEPT: ReadonlySet<string> = new Set(["embedding_lease", "text_index", "segment_lengths"]);

/** Rows that are derived, or whose absence shows where they belong: in an event's checksum, or beside a record. */
const ACCOUNTED =
  /^(event_properties|event_revisions|vectors_\d+|segments|pending_vectors|summaries|declared_\w+|pipelines|change_feed|holdfast|sqlite_sequence|tombstones|ended_tenants)$/;

/** Everything that can be read from a damaged file, table by table, into a staging database. */
export class Salvage {
  readonly #file: PageFile;
  readonly #reader: TreeReader;
  readonly #schema: readonly string[];
  readonly #ledger: Ledger;
  readonly staging: Staging;
  /** Tables of which rows may be missing without a trace. */
  readonly damaged: Set<string> = new Set();
  /** Damaged tables of which no index is whole: nothing names the rows that are missing. */
  readonly untold: Set<string> = new Set();
  stores: readonly StoreRow[] = [];
  stage = "schema";
  rows = 0;

  constructor(file: PageFile, schema: readonly string[], to: { readonly staging: Staging; readonly ledger: Ledger }) {
    this.#file = file;
    this.#reader = new TreeReader(file);
    this.#schema = schema;
    this.staging = to.staging;
    this.#ledger = to.ledger;
  }

  *steps(): Steps {
    const roots = this.#readSchema();
    const base = new SchemaModel(this.#schema, []);
    try {
      for (const table of ["stores", "declared_keys", "spaces"]) yield* this.#readTable(base.shapeOf(table), roots);
    } finally {
      base.close();
    }
    this.stores = storesFrom(this.staging);
    const model = new SchemaModel(this.#schema, this.stores);
    try {
      for (const table of model.tables()) {
        const isKept = !NOT_KEPT.has(table) && !table.startsWith("removals_");
        if (isKept && !this.staging.has(table)) yield* this.#readTable(model.shapeOf(table), roots);
      }
    } finally {
      model.close();
    }
  }

  /** Roots of tables and indexes by name. */
  #readSchema(): ReadonlyMap<string, number> {
    const roots = new Map<string, number>();
    for (const item of this.#reader.rows(1)) {
      if ("damage" in item) {
        this.damaged.add("sqlite_schema");
        this.#noteDamage("sqlite_schema", item.damage);
        continue;
      }
      const [, name, , root] = item.row.values;
      if (typeof name === "string" && typeof root === "bigint") roots.set(name, Number(root));
    }
    return roots;
  }

  *#readTable(shape: TableShape, roots: ReadonlyMap<string, number>): Steps {
    const { table, columns, rowidColumn } = shape;
    this.stage = table;
    const put = this.staging.begin(shape);
    const key = columns.findIndex(({ name }) => name === rowidColumn);
    let read = 0;
    for (const item of this.#reader.rows(roots.get(table) ?? shape.root)) {
      yield;
      if ("damage" in item) {
        this.damaged.add(table);
        this.#noteDamage(table, item.damage);
        continue;
      }
      const { rowid, values } = item.row;
      if (values.length > columns.length) {
        this.#ledger.miss({ table, row: rowid, fate: "set-aside", reason: "the row has more values than its table" });
        continue;
      }
      this.rows += 1;
      read += 1;
      this.#ledger.read(table);
      const row = columns.map(
        ({ byDefault }, index): SqlValue => (index < values.length ? (values[index] ?? null) : byDefault),
      );
      if (key >= 0) row[key] = rowid ?? null;
      put(rowid ?? null, row);
    }
    this.staging.end(table);
    if (yield* this.#isShort(shape, roots, read)) this.damaged.add(table);
    if (this.damaged.has(table)) yield* this.#readIndexes(shape, roots);
  }

  /** Rows whose page is damaged are still named by the table's indexes. */
  *#readIndexes(shape: TableShape, roots: ReadonlyMap<string, number>): Steps {
    this.staging.connection.exec("BEGIN");
    let isTold = ACCOUNTED.test(shape.table);
    for (const { name, root, columns, isPartial } of shape.indexes) {
      let isWhole = !isPartial;
      for (const item of new TreeReader(this.#file).rows(roots.get(name) ?? root)) {
        yield;
        if ("damage" in item) {
          isWhole = false;
          continue;
        }
        const { values } = item.row;
        const rowid = values.at(-1);
        if (typeof rowid !== "bigint" || values.length !== columns.length + 1) continue;
        for (const [index, column] of columns.entries())
          this.staging.noteIndexed(shape.table, rowid, column, values[index] ?? null);
      }
      isTold ||= isWhole;
    }
    this.staging.connection.exec("COMMIT");
    if (isTold) return;
    this.untold.add(shape.table);
    this.#ledger.notes.push(
      `Rows of ${shape.table} may be missing that nothing names any more: its indexes are damaged too.`,
    );
  }

  /** A page can be well formed and hold fewer rows than it did: an index has as many entries as its table has rows. */
  *#isShort(
    { indexes: [index] }: TableShape,
    roots: ReadonlyMap<string, number>,
    rows: number,
  ): Generator<void, boolean> {
    if (index === undefined || index.isPartial) return false;
    let entries = 0;
    for (const item of new TreeReader(this.#file).rows(roots.get(index.name) ?? index.root)) {
      yield;
      if ("row" in item) entries += 1;
    }
    return entries > rows;
  }

  #noteDamage(table: string, { page, rowid, reason }: DamagedPlace): void {
    this.#ledger.noteDamage(table, rowid === undefined ? `page ${page}` : `page ${page}, row ${rowid}`, reason);
  }
}
