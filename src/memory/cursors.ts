import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import type { EventPlace } from "../segments/sqlite/event-filter.ts";
import type { TenantLife } from "./tenants.ts";

/** What a cursor goes through: one of another list is no place in this one. */
export type CursorList = "events" | "changes" | "pending";

const CIPHER = "aes-128-ecb";
const BLOCK_BYTES = 16;
/** The time has eight bytes, the number six; what lies between is 0, so that a foreign cursor is known as one. */
const NUMBER_AT = 10;
const SEALED = /^[\w-]{22}$/;

/**
 * A place in a list as a caller gets it. Rows are numbered over all tenants of a folder: open numbers would tell one
 * tenant how much the others write. Sealed under the tenant's life, they tell nothing, and lead nowhere in another (S10).
 */
export function sealPlace(life: TenantLife, list: CursorList, { at, event }: EventPlace): string {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.writeBigInt64BE(at, 0);
  block.writeUIntBE(event, NUMBER_AT, BLOCK_BYTES - NUMBER_AT);
  const cipher = createCipheriv(CIPHER, keyOf(life, list), null).setAutoPadding(false);
  return Buffer.concat([cipher.update(block), cipher.final()]).toString("base64url");
}

/** The place, or `undefined` for what was not sealed for this list of this life. */
export function openPlace(life: TenantLife, list: CursorList, sealed: string): EventPlace | undefined {
  if (!SEALED.test(sealed)) return undefined;
  const decipher = createDecipheriv(CIPHER, keyOf(life, list), null).setAutoPadding(false);
  const block = Buffer.concat([decipher.update(Buffer.from(sealed, "base64url")), decipher.final()]);
  if (block.readUInt16BE(NUMBER_AT - 2) !== 0) return undefined;
  return { at: block.readBigInt64BE(0), event: block.readUIntBE(NUMBER_AT, BLOCK_BYTES - NUMBER_AT) };
}

function keyOf({ incarnation }: TenantLife, list: CursorList): Buffer {
  return createHash("sha256").update(`${list};${incarnation}`).digest().subarray(0, 16);
}
