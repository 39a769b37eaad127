import { createHash } from "node:crypto";
import type { EventLine } from "./event-line.ts";
import { OccurrenceTable } from "./occurrence-table.ts";

/**
 * Gives events without an id one that follows from what they say, so that the same file imported again, or by two
 * processes at once, makes no copies: `auto-<128 bits of SHA-256 over the session and every field>`, and `…-2`, `…-3` for
 * the second and third line that say exactly the same in that session.
 */
export class ContentIds {
  readonly #seen = new OccurrenceTable();

  identify(line: EventLine): EventLine {
    if (line.event.id !== undefined) return line;
    const digest = createHash("sha256").update(canonical(line)).digest();
    const occurrence = this.#seen.count(digest.readBigUInt64LE(16));
    const id = `auto-${digest.subarray(0, 16).toString("hex")}${occurrence > 1 ? `-${occurrence}` : ""}`;
    return { ...line, event: { ...line.event, id } };
  }
}

function canonical({ session, event }: EventLine): string {
  const fields = Object.entries({ ...event, properties: undefined }).filter(([, value]) => value !== undefined);
  const properties = Object.entries(event.properties ?? {}).filter(([, value]) => value !== null);
  return JSON.stringify([session, byKey(fields), byKey(properties)], (_, value: unknown) =>
    typeof value === "bigint" ? { $int: value.toString() } : value,
  );
}

function byKey(entries: readonly (readonly [string, unknown])[]): readonly (readonly [string, unknown])[] {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
}
