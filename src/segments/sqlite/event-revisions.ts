import type { Connection } from "../../database/connection.ts";
import { revisionChecksum } from "./checksums.ts";
import { propertiesFromText, propertiesToText, type UserProperties } from "./event-properties.ts";

/** What an event said before a later revision replaced it. */
export interface EarlierRevision {
  readonly revision: number;
  readonly text: string;
  readonly blocks: string | undefined;
  readonly properties: UserProperties;
  /** Microseconds since 1970. */
  readonly replacedAt: bigint;
}

/** In the place of a checksum: a revision was here and could not be brought back by a repair. No checksum is negative. */
export const LOST_REVISION = -1;

/** Keeps a revision that is about to be replaced (S12). */
export function insertRevision(
  connection: Connection,
  event: number,
  revision: Omit<EarlierRevision, "replacedAt">,
  replacedAt: number | bigint,
): void {
  const properties = propertiesToText(revision.properties);
  connection
    .prepare(
      "INSERT INTO event_revisions (event, revision, text, blocks, properties, checksum, replaced_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .run(
      event,
      revision.revision,
      revision.text,
      revision.blocks ?? null,
      properties,
      revisionChecksum(event, revision, properties),
      replacedAt,
    );
}

/** Earlier revisions, oldest first; `damaged` in the place of one whose checksum does not hold. */
export function revisionsOf(connection: Connection, event: number): readonly (EarlierRevision | "damaged")[] {
  const select = connection.prepare(
    "SELECT revision, text, blocks, properties, checksum, replaced_at FROM event_revisions WHERE event = ? ORDER BY revision",
    { bigints: true },
  );
  return select.all(event).map((row) => {
    const blocks = row.blocks === null ? undefined : String(row.blocks);
    const properties = String(row.properties);
    const revision = { revision: Number(row.revision), text: String(row.text), blocks };
    if (revisionChecksum(event, revision, properties) !== Number(row.checksum)) return "damaged";
    const replacedAt = BigInt(row.replaced_at as bigint);
    return { ...revision, properties: propertiesFromText(properties), replacedAt };
  });
}

export function deleteRevisions(connection: Connection, event: number): void {
  connection.prepare("DELETE FROM event_revisions WHERE event = ?").run(event);
}
