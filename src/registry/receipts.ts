import { createHmac, timingSafeEqual } from "node:crypto";
import type { Connection } from "../database/connection.ts";
import { type ReadOperation, readOperation, type WriteUnit } from "../database/operation.ts";
import { HoldfastError } from "../errors/index.ts";

/**
 * Answers of calls that named an idempotency key, each written in the commit of its call (V17). They hold ids and counts,
 * and of the input a hash keyed by this folder's secret, never a text. When an event that a receipt speaks of is
 * forgotten, the hash goes and the key stays, so that a late retry does not bring the event back (E14).
 */
export const RECEIPTS_SCHEMA = `
CREATE TABLE receipts (
  receipt INTEGER PRIMARY KEY,
  owner_kind TEXT NOT NULL,
  owner INTEGER NOT NULL,
  key TEXT NOT NULL,
  tenant INTEGER,
  hash BLOB,
  answer TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  UNIQUE (owner_kind, owner, key)
) STRICT;
CREATE INDEX receipts_expiry ON receipts (expires_at);
CREATE INDEX receipts_tenant ON receipts (tenant) WHERE tenant IS NOT NULL;
CREATE TABLE receipt_events (
  tenant INTEGER NOT NULL,
  event TEXT NOT NULL,
  receipt INTEGER NOT NULL,
  UNIQUE (tenant, event, receipt)
) STRICT;
CREATE INDEX receipt_events_receipt ON receipt_events (receipt);
CREATE TABLE receipt_secret (one INTEGER PRIMARY KEY CHECK (one = 1), secret BLOB NOT NULL) STRICT;
INSERT INTO receipt_secret (one, secret) VALUES (1, randomblob(32));`;

/** Whose keys: two owners may use one key for two calls. An ended life's receipts are nobody's. */
export interface ReceiptOwner {
  readonly kind: "folder" | "store" | "partition" | "tenant" | "session";
  /** The store's, the life's; 0 for the folder. */
  readonly number: number;
  /** The tenant that takes the receipt along when it ends. */
  readonly tenant?: number;
}

/** A key that a caller names, and how long its receipt is kept. */
export interface NamedKey {
  readonly key: string;
  /** Microseconds since 1970. */
  readonly nowMicros: number;
  readonly keepMicros: number;
}

export interface KeyedCall extends NamedKey {
  /** Of the canonical input, by {@link InputDigest}. */
  readonly digest: string;
}

export interface FoundReceipt {
  readonly receipt: number;
  readonly answer: unknown;
  /** An event that it speaks of was forgotten. */
  readonly forgotten: boolean;
}

/** Expired receipts that each new one takes along: more than one, so that they never pile up. */
const PRUNED_WITH_EACH = 8;

/** Runs a call whose receipt is not there yet and keeps its answer, or answers what the first one did. */
export function once<T>(unit: WriteUnit, owner: ReceiptOwner, call: KeyedCall | undefined, run: () => T): T {
  if (call === undefined) return run();
  const found = findReceipt(unit.connection, owner, call);
  if (found !== undefined) return found.answer as T;
  const answer = run();
  keepReceipt(unit.connection, owner, call, { answer });
  return answer;
}

/** The receipt of an earlier call with this key; raises IDEMPOTENCY_CONFLICT when that one had another input. */
export function findReceipt(connection: Connection, owner: ReceiptOwner, call: KeyedCall): FoundReceipt | undefined {
  const row = connection
    .prepare(
      "SELECT receipt, hash, answer FROM receipts WHERE owner_kind = ? AND owner = ? AND key = ? AND expires_at > ?",
    )
    .get(owner.kind, owner.number, call.key, call.nowMicros);
  if (row === undefined) return undefined;
  const forgotten = row.hash === null;
  if (!forgotten && !timingSafeEqual(row.hash as Uint8Array, keyedHash(connection, call.digest))) throw conflict(call);
  const { answer } = JSON.parse(String(row.answer)) as { readonly answer?: unknown };
  return { receipt: Number(row.receipt), answer, forgotten };
}

/** What is kept of a call. */
export interface Receipt {
  readonly answer: unknown;
  /** Ids of the events that it speaks of. */
  readonly events?: readonly string[];
}

/** Keeps an answer, in the place of the one under the same key. */
export function keepReceipt(
  connection: Connection,
  owner: ReceiptOwner,
  call: KeyedCall,
  { answer, events = [] }: Receipt,
): void {
  pruneReceipts(connection, call.nowMicros);
  const known = connection
    .prepare("SELECT receipt FROM receipts WHERE owner_kind = ? AND owner = ? AND key = ?")
    .get(owner.kind, owner.number, call.key);
  if (known !== undefined) dropReceipt(connection, Number(known.receipt));
  const { lastInsertRowid } = connection
    .prepare(
      "INSERT INTO receipts (owner_kind, owner, key, tenant, hash, answer, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .run(
      owner.kind,
      owner.number,
      call.key,
      owner.tenant ?? null,
      keyedHash(connection, call.digest),
      JSON.stringify({ answer }),
      call.nowMicros + call.keepMicros,
    );
  if (owner.tenant === undefined) return;
  const insert = connection.prepare("INSERT OR IGNORE INTO receipt_events (tenant, event, receipt) VALUES (?, ?, ?)");
  for (const event of events) insert.run(owner.tenant, event, lastInsertRowid);
}

/** Part of forgetting an event: nothing says any more what the call that brought it said. */
export function forgetInReceipts(connection: Connection, tenant: number, event: string): void {
  connection
    .prepare(
      "UPDATE receipts SET hash = NULL WHERE receipt IN (SELECT receipt FROM receipt_events WHERE tenant = ? AND event = ?)",
    )
    .run(tenant, event);
  connection.prepare("DELETE FROM receipt_events WHERE tenant = ? AND event = ?").run(tenant, event);
}

/** Receipts of an ended life, in steps: answers how many went. */
export function dropReceiptsOf(connection: Connection, { kind, number }: ReceiptOwner, limit: number): number {
  const rows = connection
    .prepare("SELECT receipt FROM receipts WHERE owner_kind = ? AND owner = ? LIMIT ?")
    .all(kind, number, limit);
  for (const { receipt } of rows) dropReceipt(connection, Number(receipt));
  return rows.length;
}

export interface ReceiptInput {
  readonly owner: ReceiptOwner;
  readonly call: KeyedCall;
}

/** Looks for a receipt before anything is paid for; whether the life still stands is asked by the call itself. */
export const readReceipt: ReadOperation<ReceiptInput, FoundReceipt | undefined> = readOperation(
  "registry.read-receipt",
  (view, { owner, call }) => findReceipt(view.connection, owner, call),
);

function pruneReceipts(connection: Connection, nowMicros: number): void {
  const rows = connection
    .prepare("SELECT receipt FROM receipts WHERE expires_at <= ? ORDER BY expires_at LIMIT ?")
    .all(nowMicros, PRUNED_WITH_EACH);
  for (const { receipt } of rows) dropReceipt(connection, Number(receipt));
}

function dropReceipt(connection: Connection, receipt: number): void {
  connection.prepare("DELETE FROM receipt_events WHERE receipt = ?").run(receipt);
  connection.prepare("DELETE FROM receipts WHERE receipt = ?").run(receipt);
}

function keyedHash(connection: Connection, digest: string): Buffer {
  const secret = connection.prepare("SELECT secret FROM receipt_secret").get()?.secret as Uint8Array;
  return createHmac("sha256", secret).update(digest).digest();
}

function conflict({ key }: KeyedCall): HoldfastError {
  const message =
    "The idempotency key was used for another call or another input; a retry repeats the same call, a new call takes a new key.";
  return new HoldfastError("IDEMPOTENCY_CONFLICT", message, { details: { key }, outcome: "not-applied" });
}
