import {
  type ReadOperation,
  readOperation,
  type WriteOperation,
  type WriteUnit,
  writeOperation,
} from "../database/operation.ts";
import { noteTokens } from "../segments/sqlite/segments.ts";
import { clearTextIndex, indexSegment } from "../segments/sqlite/text-index.ts";
import { TOKENIZER_VERSION, tokeniseWords } from "../segments/words.ts";
import { searchableText } from "./segment-records.ts";

/** With which version of the tokenizer the text index was made (D11). */
export const TEXT_INDEX_VERSION_SCHEMA: string = `
CREATE TABLE text_index (one INTEGER PRIMARY KEY CHECK (one = 1), tokenizer_version INTEGER NOT NULL) STRICT;
INSERT INTO text_index (one, tokenizer_version) VALUES (1, ${TOKENIZER_VERSION});`;

/** Segments read at once while the index is made anew. */
const SEGMENTS_PER_PAGE = 500;

/** False when another version of the tokenizer made the index: its words would not meet those of a question. */
export const isTextIndexCurrent: ReadOperation<null, boolean> = readOperation(
  "memory.is-text-index-current",
  (view) => {
    const row = view.connection.prepare("SELECT tokenizer_version FROM text_index").get();
    return Number(row?.tokenizer_version) === TOKENIZER_VERSION;
  },
);

/** Makes the whole text index anew from the texts, in one commit; does nothing when another process was first. */
export const renewTextIndex: WriteOperation<null, null> = writeOperation("memory.renew-text-index", (unit) => {
  const { connection } = unit;
  const current = connection.prepare("SELECT tokenizer_version FROM text_index").get();
  if (Number(current?.tokenizer_version) === TOKENIZER_VERSION) return null;
  clearTextIndex(connection);
  connection.exec("UPDATE tenants SET tokens = 0");
  for (let last = 0; ; ) {
    unit.cancellation.assertLive();
    const next = indexPage(unit, last);
    if (next === undefined) break;
    last = next;
  }
  connection.prepare("UPDATE text_index SET tokenizer_version = ?").run(TOKENIZER_VERSION);
  return null;
});

function indexPage({ connection }: WriteUnit, behind: number): number | undefined {
  const select = connection.prepare(
    `SELECT s.segment, s.tenant, s.start, s."end", e.producer, e.text FROM segments AS s JOIN events AS e ON e.event = s.event
     WHERE s.segment > ? ORDER BY s.segment LIMIT ${SEGMENTS_PER_PAGE}`,
  );
  const count = connection.prepare("UPDATE tenants SET tokens = tokens + ? WHERE tenant = ?");
  let last: number | undefined;
  for (const row of select.all(behind)) {
    last = Number(row.segment);
    const producer = row.producer === null ? undefined : String(row.producer);
    const text = searchableText(
      { producer, text: String(row.text) },
      { start: Number(row.start), end: Number(row.end) },
    );
    const entry = { segment: last, tenant: Number(row.tenant), tokens: tokeniseWords(text) };
    const indexed = indexSegment(connection, entry);
    noteTokens(connection, last, indexed.tokenString);
    count.run(indexed.tokenCount, entry.tenant);
  }
  return last;
}
