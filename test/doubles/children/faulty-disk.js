/** The page by which this process tells the library of faulty-disk.c what to fail; that file has the same layout. */
import { openSync, readSync, writeSync } from "node:fs";
import { constants } from "node:os";

const KINDS = { writes: 1, syncs: 2, reads: 3 };
const FIELDS = [
  "kind",
  "at",
  "error",
  "lasting",
  "lossy",
  "idle",
  "writes",
  "syncs",
  "reads",
  "failed",
  "hang",
  "hanging",
];
const FOLDER_OFFSET = FIELDS.length * 8;

const page = openSync(process.env.HOLDFAST_FAULTS, "r+");

function set(field, value) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  writeSync(page, bytes, 0, 8, FIELDS.indexOf(field) * 8);
}

function get(field) {
  const bytes = Buffer.alloc(8);
  readSync(page, bytes, 0, 8, FIELDS.indexOf(field) * 8);
  return Number(bytes.readBigInt64LE());
}

/**
 * From now on calls under `folder` are counted, and the `at`-th of the kind fails: with `lasting` every later one too,
 * with `lossy` a sync that fails drops what was written since the last one.
 */
export function arm(folder, { kind, at, error, lasting = false, lossy = false } = {}) {
  set("kind", 0);
  const name = Buffer.from(`${folder}\0`);
  writeSync(page, name, 0, name.length, FOLDER_OFFSET);
  for (const field of ["writes", "syncs", "reads", "failed"]) set(field, 0);
  if (kind === undefined) return;
  set("at", at);
  set("error", constants.errno[error]);
  set("lasting", Number(lasting));
  set("lossy", Number(lossy));
  set("kind", KINDS[kind]);
}

/** Nothing fails any more; answers how many calls there were, and how many failed. */
export function disarm() {
  set("kind", 0);
  return Object.fromEntries(["writes", "syncs", "reads", "failed"].map((field) => [field, get(field)]));
}

/** While it is on, syncs do not answer. */
export function hang(on) {
  set("hang", Number(on));
}

/** Resolves when a sync hangs. */
export async function untilHanging() {
  while (get("hanging") === 0) await new Promise((resolve) => setImmediate(resolve));
}
