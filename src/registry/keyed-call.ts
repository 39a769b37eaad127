import { assertId } from "../contract/names.ts";
import type { WriteOptions } from "../contract/store.ts";
import type { Database } from "../database/database.ts";
import { systemClock } from "../io/clock.ts";
import type { KeyedCall, NamedKey } from "./receipts.ts";

/** The key that a call names, or `undefined`. */
export function namedKey(
  { idempotencyKey }: WriteOptions,
  { settings }: Pick<Database, "settings">,
): NamedKey | undefined {
  if (idempotencyKey === undefined) return undefined;
  assertId(idempotencyKey, "idempotency key");
  const keepMicros = Math.ceil(settings.receiptRetentionMs * 1_000);
  return { key: idempotencyKey, nowMicros: systemClock.nowMicros(), keepMicros };
}

/** The same with its input, of which `digest` is asked only where there is a key. */
export function keyedCall(
  options: WriteOptions,
  database: Pick<Database, "settings">,
  digest: () => string,
): KeyedCall | undefined {
  const named = namedKey(options, database);
  return named && { ...named, digest: digest() };
}
