import type { Connection } from "../../database/connection.ts";
import { tokensOf, toTerm, toTokenString } from "./terms.ts";

export { findWords, type QueryWord, searchText, type TextQuery } from "./text-search.ts";

/**
 * The text index: which segment holds which word how often.
 *
 * Contentless without `contentless_delete`: with that option `secure-delete` has no effect and deleted words
 * stay in the file. Lengths have a narrow table of their own, because a search reads one for each occurrence
 * and rows of segments are as wide as their texts; it also says whose a segment is. The two vocabularies are views of the index: `counts` answers
 * in how many segments a term is, `places` names the segment of each occurrence.
 */
export const textIndexSchema: string = `
CREATE VIRTUAL TABLE segment_words USING fts5(words, content = '', columnsize = 0, detail = full, tokenize = "ascii tokenchars '_'");
INSERT INTO segment_words (segment_words, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE segment_word_counts USING fts5vocab(segment_words, row);
CREATE VIRTUAL TABLE segment_word_places USING fts5vocab(segment_words, instance);
CREATE TABLE segment_lengths (segment INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, tokens INTEGER NOT NULL) STRICT;`;

// FTS5 takes a row id of the type REAL for none at all, and drivers bind numbers as REAL.
const INDEX_WORDS = "INSERT INTO segment_words (rowid, words) VALUES (CAST(? AS INTEGER), ?)";
const UNINDEX_WORDS =
  "INSERT INTO segment_words (segment_words, rowid, words) VALUES ('delete', CAST(? AS INTEGER), ?)";
const INDEX_LENGTH = "INSERT INTO segment_lengths (segment, tenant, tokens) VALUES (?, ?, ?)";
const UNINDEX_LENGTH = "DELETE FROM segment_lengths WHERE segment = ? RETURNING tenant";

export interface IndexedWords {
  /** Kept with the segment, byte for byte: taking it out of the index needs the exact old tokens. */
  readonly tokenString: string;
  /** What the segment adds to its tenant's token total. */
  readonly tokenCount: number;
}

/**
 * Puts the words of a new segment into the index. Runs inside the caller's transaction, once for each segment
 * id; the caller keeps `tokenString` in the segment's row and counts one document and `tokenCount` tokens in its
 * tenant's row.
 *
 * @param entry.tokens - as `tokeniseWords` answers them; any text is safe
 */
export function indexSegment(
  connection: Connection,
  entry: { readonly segment: number; readonly tenant: number; readonly tokens: readonly string[] },
): IndexedWords {
  const tokenString = toTokenString(entry.tokens);
  const tokenCount = tokensOf(tokenString).length;
  connection.prepare(INDEX_LENGTH).run(entry.segment, entry.tenant, tokenCount);
  if (tokenCount > 0) connection.prepare(INDEX_WORDS).run(entry.segment, toTerms(entry.tenant, tokenString));
  return { tokenString, tokenCount };
}

/**
 * Takes a segment out of the index, so that its words leave the file with the next checkpoint.
 * A segment that is not indexed, or was taken out before, is left as it is.
 *
 * @param entry.tokenString - what {@link indexSegment} answered for this segment
 */
export function unindexSegment(
  connection: Connection,
  entry: { readonly segment: number; readonly tokenString: string },
): void {
  const removed = connection.prepare(UNINDEX_LENGTH).get(entry.segment);
  // FTS5 does not check that what it is told to delete is there: a second 'delete' would hurt the index.
  if (removed === undefined || entry.tokenString === "") return;
  connection.prepare(UNINDEX_WORDS).run(entry.segment, toTerms(Number(removed.tenant), entry.tokenString));
}

/** Empties the index of every tenant: the first step of building it anew. */
export function clearTextIndex(connection: Connection): void {
  connection.exec("INSERT INTO segment_words (segment_words) VALUES ('delete-all'); DELETE FROM segment_lengths;");
}

/**
 * Writes the index anew as one piece, in time proportional to all of it, inside the caller's transaction. Searching gets a little faster, and what
 * single removals leave goes: FTS5 keeps the beginning of a removed word where it was the first of a page.
 */
export function compactTextIndex(connection: Connection): void {
  // 'optimize' leaves an index that is one piece as it is, so that a piece is added; no tenant's term is a bare "_".
  connection.exec(`
    INSERT INTO segment_words (rowid, words) VALUES (-1, '_');
    INSERT INTO segment_words (segment_words) VALUES ('optimize');
    INSERT INTO segment_words (segment_words, rowid, words) VALUES ('delete', -1, '_');`);
}

function toTerms(tenant: number, tokenString: string): string {
  return tokensOf(tokenString)
    .map((token) => toTerm(tenant, token))
    .join(" ");
}
