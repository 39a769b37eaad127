import { createHash } from "node:crypto";

/** How far an archive was written or read: so many lines, and the digest over all of them. */
export interface ArchivePlace {
  readonly lines: number;
  /** SHA-256 in hexadecimal: of the digest before the line, and the line. */
  readonly digest: string;
}

export const ARCHIVE_START: ArchivePlace = { lines: 0, digest: "0".repeat(64) };

/** Hexadecimal digits of a line's check: 128 bits of the digest. */
const CHECK_DIGITS = 32;
const TAIL = /^,"check":"([0-9a-f]{32})"\}$/;
const TAIL_LENGTH = ',"check":""}'.length + CHECK_DIGITS;

/**
 * Closes a line with its check, which is over this line and all before it: a line that is altered, left out, doubled or
 * moved does not follow the one before it.
 *
 * @param body - a JSON object with at least one field, as it is written
 */
export function sealLine(body: string, before: ArchivePlace): { readonly line: string; readonly place: ArchivePlace } {
  const place = behind(body, before);
  return { line: `${body.slice(0, -1)},"check":"${place.digest.slice(0, CHECK_DIGITS)}"}`, place };
}

/** The line without its check, and the place behind it; `undefined` when it does not follow the lines before it. */
export function openLine(
  line: string,
  before: ArchivePlace,
): { readonly body: string; readonly place: ArchivePlace } | undefined {
  const check = TAIL.exec(line.slice(-TAIL_LENGTH))?.[1];
  if (check === undefined) return undefined;
  const body = `${line.slice(0, -TAIL_LENGTH)}}`;
  const place = behind(body, before);
  return place.digest.startsWith(check) ? { body, place } : undefined;
}

function behind(body: string, { lines, digest }: ArchivePlace): ArchivePlace {
  return { lines: lines + 1, digest: createHash("sha256").update(digest).update(body, "utf8").digest("hex") };
}
