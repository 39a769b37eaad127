import { readRow, valuesOf } from "../backends/embedded/codec.ts";
import { columnName, createTables } from "../backends/embedded/tables.ts";
import { isPropertyKind } from "../contract/properties.ts";
import type { SqlRow, SqlValue } from "../database/connection.ts";
import { mintId } from "../io/ids.ts";
import { declaredColumns } from "../memory/declared-keys.ts";
import { VECTOR_PROPERTIES } from "../memory/vector-records.ts";
import type { StoreRow } from "../registry/stores.ts";
import { unusable } from "../verify/record-checks.ts";
import type { Steps } from "../verify/verification.ts";
import { columnsOf, type Rebuild, setAside } from "./rebuild.ts";
import { nameOf } from "./staging.ts";

/** Counters, stores, and the partitions and records of those that are not the memory's own. */
export function* rebuildRegistry(all: Rebuild): Steps {
  const { staging, target } = all;
  for (const row of staging.rows("holdfast"))
    target.connection.prepare("UPDATE holdfast SET created_at = ?").run(Number(row.created_at));
  restoreSequences(all);
  for (const row of staging.rows("declared_keys")) restoreKey(all, row);
  for (const row of staging.rows("spaces")) restoreSpace(all, row);
  const space = memoryStore(all);
  reportLostStores(all);
  for (const store of all.stores) {
    yield;
    if (store.store === space) continue;
    // Without its space nobody knows what made the vectors: they are made anew.
    if (store.name.startsWith("memory:") && !isSpaceOf(all, store.store)) {
      all.ledger.notes.push(
        `The vectors of store ${store.name} cannot be told from another model's any more and are made anew.`,
      );
      continue;
    }
    restoreStore(all, store);
    yield* restoreRecords(all, store, restorePartitions(all, store));
  }
}

/** The store of the space that serves, in the repaired database. */
export function memoryStore({ target }: Pick<Rebuild, "target">): number | undefined {
  const row = target.connection.prepare("SELECT store FROM spaces ORDER BY space DESC LIMIT 1").get();
  return row && Number(row.store);
}

function isSpaceOf({ target }: Rebuild, store: number): boolean {
  return target.connection.prepare("SELECT 1 AS found FROM spaces WHERE store = ?").get(store) !== undefined;
}

/** A number is given once in the life of a folder, and a repaired one goes on where the damaged one was (E3). */
function restoreSequences({ staging, target }: Rebuild): void {
  const { connection } = target;
  const counters = new Map<string, number>();
  const note = (table: string, last: number): void => {
    if (Number.isSafeInteger(last)) counters.set(table, Math.max(counters.get(table) ?? 0, last));
  };
  for (const { name, seq } of staging.rows("sqlite_sequence")) note(String(name), Number(seq));
  const tables = staging.connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  for (const { name } of tables) {
    if (name === "indexed_" || name === nameOf("sqlite_sequence")) continue;
    note(
      String(name),
      Number(staging.connection.prepare(`SELECT max(rowid_) AS last FROM "${String(name)}"`).get()?.last ?? 0),
    );
  }
  const lost = staging.connection.prepare("SELECT table_, max(rowid_) AS last FROM indexed_ GROUP BY table_").all();
  for (const { table_: table, last } of lost) note(String(table), Number(last));
  for (const [table, last] of counters) {
    if (last > 0) connection.prepare("DELETE FROM sqlite_sequence WHERE name = ?").run(table);
    if (last > 0) connection.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)").run(table, BigInt(last));
  }
}

/** Every vector is written anew with its values: each key is complete. */
function restoreKey(all: Rebuild, row: SqlRow): void {
  const isWhole = isPropertyKind(String(row.kind)) && typeof row.name === "string";
  const reason = isWhole ? all.target.insert("declared_keys", { ...columnsOf(row), complete: 1n }) : "its type is none";
  if (reason === undefined) all.ledger.kept("declared_keys");
  else setAside(all, "declared_keys", row, reason);
}

function restoreSpace(all: Rebuild, row: SqlRow): void {
  const store = all.stores.find((one) => one.store === Number(row.store));
  const isWhole = store !== undefined && store.dimensions === Number(row.dimensions);
  const reason = isWhole
    ? all.target.insert("spaces", columnsOf(row))
    : "its store is not there, or has other dimensions";
  if (reason !== undefined) {
    setAside(all, "spaces", row, reason);
    return;
  }
  all.ledger.kept("spaces");
  const own = { ...VECTOR_PROPERTIES, ...declaredColumns(all.target.connection) };
  if (store !== undefined) restoreStore(all, { ...store, properties: own });
}

function restoreStore(all: Rebuild, store: StoreRow): void {
  const { connection } = all.target;
  if (connection.prepare("SELECT 1 AS found FROM stores WHERE store = ?").get(store.store) !== undefined) return;
  const reason = all.target.insert("stores", {
    store: BigInt(store.store),
    name: store.name,
    dimensions: BigInt(store.dimensions),
    properties: JSON.stringify(Object.entries(store.properties)),
  });
  if (reason !== undefined) {
    all.ledger.miss({ table: "stores", row: BigInt(store.store), fate: "set-aside", reason });
    return;
  }
  createTables(connection, store);
  all.ledger.kept("stores");
}

/** Stores whose rows cannot be read: what their records mean stands nowhere else. */
function reportLostStores(all: Rebuild): void {
  const known = new Set(all.stores.map(({ store }) => store));
  for (const row of all.staging.rows("stores"))
    if (!known.has(Number(row.store)))
      setAside(
        all,
        "stores",
        row,
        "the row does not say what the store's records are; they stay in the damaged database",
      );
  for (const store of all.staging.has("stores") ? all.staging.lost("stores") : [])
    if (!known.has(Number(store)))
      all.ledger.miss({
        table: "stores",
        row: store,
        fate: "lost",
        reason: "the row's page is damaged; the records stay in the damaged database",
        values: all.staging.indexed("stores", store),
      });
}

/** The numbers of partitions that are there; one whose row is damaged gets a key that says so. */
function restorePartitions(all: Rebuild, store: StoreRow): ReadonlySet<number> {
  const { staging, target, ledger } = all;
  const ended = new Set([...staging.rows("tombstones")].map(({ partition }) => Number(partition)));
  const restored = new Set<number>();
  const put = (partition: number, key: SqlValue, row: Readonly<Record<string, SqlValue>>): string | undefined => {
    const life = {
      store: BigInt(store.store),
      position: 1n,
      created_at: BigInt(target.unit.nowMicros),
      incarnation: mintId(),
      ...row,
    };
    const reason = target.insert("partitions", {
      ...life,
      partition: BigInt(partition),
      key,
      records: 0n,
      checksum: 0n,
      removals_floor: 0n,
    });
    if (reason === undefined) restored.add(partition);
    if (reason === undefined) ledger.kept("partitions");
    return reason;
  };
  for (const row of staging.rows("partitions")) {
    if (Number(row.store) !== store.store) continue;
    const reason = put(Number(row.partition), row.key ?? null, columnsOf(row));
    if (reason !== undefined) setAside(all, "partitions", row, reason);
  }
  const used = staging.connection.prepare(`SELECT DISTINCT partition FROM records_${store.store}`).all();
  for (const { partition } of used) {
    const number = Number(partition);
    if (!Number.isSafeInteger(number) || restored.has(number) || ended.has(number)) continue;
    // Whether it has ended is not known any more: what was deleted must not come back.
    if (all.damaged.has("tombstones")) continue;
    const { key, incarnation } = staging.indexed("partitions", BigInt(number));
    const isNamed =
      typeof key === "string" && put(number, key, typeof incarnation === "string" ? { incarnation } : {}) === undefined;
    if (isNamed) continue;
    if (put(number, `recovered_${number}`, {}) === undefined)
      ledger.notes.push(
        `The row of partition ${number} of store ${store.name} is damaged; its records are in "recovered_${number}".`,
      );
  }
  return restored;
}

/** Each record whose checksum holds, under its number; the newest first, so that an older one takes nobody's place. */
function* restoreRecords(all: Rebuild, store: StoreRow, partitions: ReadonlySet<number>): Steps {
  const { staging, target, ledger } = all;
  const [records, vectors] = [`records_${store.store}`, `vectors_${store.store}`];
  const scratch = new Float32Array(store.dimensions);
  const sums = new Map<number, { records: number; checksum: number }>();
  const select = staging.connection.prepare(`SELECT * FROM ${records} ORDER BY rowid_ DESC`, { bigints: true });
  for (const row of select.iterate()) {
    yield;
    const partition = Number(row.partition);
    if (!partitions.has(partition)) {
      if (all.damaged.has("tombstones"))
        setAside(all, records, row, "its partition is not there, and may have been deleted");
      continue;
    }
    const vector = staging
      .find(vectors, "rowid_", row.rowid_ ?? null)
      .find((one) => one.vector instanceof Uint8Array)?.vector;
    const reason = vector instanceof Uint8Array ? recordFault(row, vector, store, scratch) : "its vector is missing";
    const failed = reason ?? (vector instanceof Uint8Array ? insertRecord(all, store, row, vector) : "");
    if (failed !== undefined) {
      setAside(all, records, row, failed);
      continue;
    }
    ledger.kept(records);
    ledger.kept(vectors);
    const sum = sums.get(partition) ?? { records: 0, checksum: 0 };
    sums.set(partition, { records: sum.records + 1, checksum: (sum.checksum ^ Number(row.checksum)) >>> 0 });
  }
  const update = target.connection.prepare("UPDATE partitions SET records = ?, checksum = ? WHERE partition = ?");
  for (const [partition, sum] of sums) update.run(sum.records, sum.checksum, partition);
  reportOrphanVectors(all, store);
  if (all.damaged.has(records))
    for (const row of staging.lost(records))
      ledger.miss({
        table: records,
        row,
        fate: "lost",
        reason: "the row's page is damaged",
        values: staging.indexed(records, row),
      });
}

function recordFault(row: SqlRow, vector: Uint8Array, store: StoreRow, scratch: Float32Array): string | undefined {
  if (vector.byteLength !== store.dimensions * 4) return "its vector has another length";
  const found = { ...row, row: row.rowid_ ?? null, vector };
  if (readRow(found, Number(row.partition), store.properties) === undefined) return "its checksum does not hold";
  return unusable(vector, scratch);
}

function insertRecord(all: Rebuild, store: StoreRow, row: SqlRow, vector: Uint8Array): string | undefined {
  const names = Object.keys(store.properties).map((key) => columnName(key).slice(1, -1));
  const columns = Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
  const { partition = null, id = null, checksum = null, rowid_: number = null } = row;
  const reason = all.target.insert(`records_${store.store}`, { row: number, partition, id, checksum, ...columns });
  return reason ?? all.target.insert(`vectors_${store.store}`, { row: number, vector });
}

function reportOrphanVectors(all: Rebuild, store: StoreRow): void {
  const orphans = all.staging.connection.prepare(
    `SELECT rowid_ FROM vectors_${store.store} WHERE rowid_ NOT IN (SELECT rowid_ FROM records_${store.store})`,
    { bigints: true },
  );
  for (const { rowid_: row } of orphans.iterate())
    all.ledger.miss({
      table: `vectors_${store.store}`,
      row: row ?? null,
      fate: "set-aside",
      reason: "it belongs to no record",
    });
}

/** The values of a staged record, in the order of its store's keys. */
export function stagedValues(row: SqlRow, store: StoreRow): ReturnType<typeof valuesOf> {
  return valuesOf(row, store.properties);
}
