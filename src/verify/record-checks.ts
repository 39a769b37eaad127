import { needsBigints, readRow, toFloat32 } from "../backends/embedded/codec.ts";
import { columnName } from "../backends/embedded/tables.ts";
import { writeVector } from "../contract/vector.ts";
import type { Connection, SqlRow } from "../database/connection.ts";
import { isHoldfastError } from "../errors/index.ts";
import type { StoreRow } from "../registry/stores.ts";
import { storesOf } from "./stored-stores.ts";
import { overRanges } from "./structure-checks.ts";
import type { Check, Steps, Verification } from "./verification.ts";

/** What the rows of one partition add up to. */
interface Sum {
  records: number;
  checksum: number;
}

/** Each record with its vector and its checksum, and each partition's count and sum over them (E11). */
export const recordChecks: Check = {
  stage: "records",
  *run(verification) {
    for (const { store, row } of storesOf(verification.connection)) {
      yield;
      if (row === undefined) {
        verification.report("store", "stores", store, "The store's row does not say what its records are.");
        continue;
      }
      const sums = new Map<number, Sum>();
      yield* checkRecords(verification, row, sums);
      yield* checkSums(verification, store, sums);
      yield* checkVectors(verification, store);
    }
    yield* checkLives(verification);
  },
};

function* checkRecords(verification: Verification, store: StoreRow, sums: Map<number, Sum>): Steps {
  const { connection } = verification;
  const table = `records_${store.store}`;
  const read = recordReader(connection, store);
  const isKnown = partitionLookup(connection, store.store);
  const columns = Object.keys(store.properties).map((key) => `, ${columnName(key)}`);
  const sql = `SELECT row AS key, row, partition, id, checksum${columns.join("")} FROM ${table} WHERE row > ? ORDER BY row`;
  const seek = `SELECT min(row) AS key FROM ${table} WHERE row >= ?`;
  for (const row of verification.walk({ table, sql, seek })) {
    verification.counts.records += 1;
    const partition = Number(row.partition);
    const sum = sums.get(partition) ?? { records: 0, checksum: 0 };
    sum.records += 1;
    sum.checksum = (sum.checksum ^ Number(row.checksum)) >>> 0;
    sums.set(partition, sum);
    if (!isKnown(partition))
      verification.report("orphan-record", table, `${row.row}`, `The record's partition ${partition} is not there.`);
    const fault = verification.attempt(table, String(row.row), () => read(row));
    if (fault !== undefined) verification.report(fault.kind, table, `${row.row}`, fault.message);
    yield;
  }
}

interface RecordFault {
  readonly kind: "record" | "vector" | "index";
  readonly message: string;
}

/** Tells what is wrong with a record, looking at its vector and at the way to it by its id. */
function recordReader(connection: Connection, store: StoreRow): (row: SqlRow) => RecordFault | undefined {
  const schema = store.properties;
  const select = connection.prepare(`SELECT vector FROM vectors_${store.store} WHERE row = ?`);
  const byId = connection.prepare(`SELECT row FROM records_${store.store} WHERE partition = ? AND id = ?`);
  const scratch = new Float32Array(store.dimensions);
  const bigints = needsBigints(schema);
  return (found) => {
    const number = Number(found.row);
    const vector = select.get(number)?.vector;
    if (!(vector instanceof Uint8Array)) return { kind: "vector", message: "The record's vector is missing." };
    if (vector.byteLength !== store.dimensions * 4)
      return { kind: "vector", message: `The vector has ${vector.byteLength} bytes, not ${store.dimensions * 4}.` };
    const row = bigints ? { ...found, vector } : { ...toNumbers(found), vector };
    if (readRow(row, Number(found.partition), schema) === undefined)
      return {
        kind: "record",
        message: "The record's checksum does not hold: its id, a value or its vector was changed.",
      };
    const reason = unusable(vector, scratch);
    if (reason !== undefined) return { kind: "vector", message: reason };
    if (Number(byId.get(Number(found.partition), String(found.id))?.row) === number) return undefined;
    return { kind: "index", message: "The record is not found by its id." };
  };
}

/** As the store reads rows without int64 columns. */
function toNumbers(row: SqlRow): SqlRow {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value]),
  );
}

/** Why nothing can be compared with a vector, or `undefined`. */
export function unusable(vector: Uint8Array, scratch: Float32Array): string | undefined {
  try {
    writeVector(toFloat32(vector), scratch.length, scratch, 0, "the record");
    return undefined;
  } catch (error) {
    if (!isHoldfastError(error, "INVALID_VECTOR")) throw error;
    return "The vector is zero or has a component that is no number.";
  }
}

function partitionLookup(connection: Connection, store: number): (partition: number) => boolean {
  const known = new Map<number, boolean>();
  const live = connection.prepare("SELECT 1 AS found FROM partitions WHERE partition = ? AND store = ?");
  const ended = connection.prepare("SELECT 1 AS found FROM tombstones WHERE partition = ? AND store = ?");
  return (partition) => {
    const found = known.get(partition) ?? (live.get(partition, store) ?? ended.get(partition, store)) !== undefined;
    known.set(partition, found);
    return found;
  };
}

function* checkSums(verification: Verification, store: number, sums: ReadonlyMap<number, Sum>): Steps {
  const sql =
    "SELECT partition AS key, key AS name, records, checksum FROM partitions WHERE partition > ? AND store = ? ORDER BY partition";
  for (const row of verification.connection.prepare(sql).all(0, store)) {
    verification.counts.partitions += 1;
    const { records, checksum } = sums.get(Number(row.key)) ?? { records: 0, checksum: 0 };
    const place = `partition ${String(row.name)} of store ${store}`;
    if (records !== Number(row.records))
      verification.report(
        "partition-sum",
        "partitions",
        `${row.key}`,
        `The ${place} counts ${row.records} records; ${records} are there.`,
      );
    else if (checksum !== Number(row.checksum))
      verification.report(
        "partition-sum",
        "partitions",
        `${row.key}`,
        `The sum of the ${place} is not that of its records.`,
      );
    yield;
  }
}

function* checkVectors(verification: Verification, store: number): Steps {
  const table = `vectors_${store}`;
  const select = verification.connection.prepare(
    `SELECT v.row FROM ${table} AS v LEFT JOIN records_${store} AS r ON r.row = v.row WHERE v.row >= ? AND v.row < ? AND r.row IS NULL`,
  );
  yield* overRanges(verification, { table, key: "row" }, (from, to) => {
    for (const { row } of select.iterate(from, to))
      verification.report("orphan-vector", table, `${row}`, "The vector belongs to no record.");
  });
}

/** Partitions of stores that are not there, and numbers that two lives have. */
function* checkLives(verification: Verification): Steps {
  const { connection } = verification;
  yield;
  verification.attempt("partitions", "their stores", () => {
    const orphans = connection.prepare(
      "SELECT partition, store FROM partitions WHERE store NOT IN (SELECT store FROM stores)",
    );
    for (const { partition, store } of orphans.iterate())
      verification.report("partition", "partitions", `${partition}`, `The partition's store ${store} is not there.`);
    const twice = connection.prepare(
      "SELECT partition FROM partitions WHERE partition IN (SELECT partition FROM tombstones)",
    );
    for (const { partition } of twice.iterate())
      verification.report(
        "partition",
        "partitions",
        `${partition}`,
        "The partition's number is also that of an ended life.",
      );
    const spaces = connection.prepare(
      `SELECT s.space, s.store FROM spaces AS s LEFT JOIN stores AS t ON t.store = s.store
       WHERE t.store IS NULL OR t.dimensions <> s.dimensions`,
    );
    for (const { space, store } of spaces.iterate())
      verification.report(
        "space",
        "spaces",
        `${space}`,
        `The space's store ${store} is not there, or has other dimensions.`,
      );
  });
}
