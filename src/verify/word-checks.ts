import { crc32 } from "node:zlib";
import type { Connection, SqlRow } from "../database/connection.ts";
import { tokensOf, toTerm } from "../segments/sqlite/terms.ts";
import type { Check, Steps, Verification } from "./verification.ts";

/** Buckets in which words are summed up: what differs is then looked at segment by segment. */
const BUCKETS = 1 << 16;

/** Segments of differing buckets that are told one by one. */
const SEGMENTS_TOLD_MAX = 100_000;

/** The text index against the words of the segments, both ways: each word at its place, and no other. */
export const wordChecks: Check = {
  stage: "words",
  *run(verification) {
    const expected = new Float64Array(BUCKETS);
    const found = new Float64Array(BUCKETS);
    yield* sumSegments(verification, expected);
    yield* sumIndex(verification, found);
    yield* tellDifferences(verification, expected, found);
    yield* checkLengths(verification);
  },
};

const SEGMENTS = {
  table: "segments",
  sql: "SELECT segment AS key, tenant, token_string, event FROM segments WHERE segment > ? ORDER BY segment",
  seek: "SELECT min(segment) AS key FROM segments WHERE segment >= ?",
};

function* sumSegments(verification: Verification, sums: Float64Array): Steps {
  const event = verification.connection.prepare("SELECT count(*) AS found FROM events WHERE event = ?");
  const length = verification.connection.prepare("SELECT tokens, tenant FROM segment_lengths WHERE segment = ?");
  for (const row of verification.walk(SEGMENTS)) {
    const [segment, tenant] = [Number(row.key), Number(row.tenant)];
    const tokens = tokensOf(String(row.token_string));
    if (verification.lookAt(() => event.get(Number(row.event))?.found) === 0)
      verification.report("orphan-segment", "segments", segment, `The segment's event ${row.event} is not there.`);
    const counted = verification.attempt("segment_lengths", segment, () => ({ row: length.get(segment) }));
    if (counted !== undefined) checkLength(verification, segment, { tenant, tokens: tokens.length }, counted.row);
    addWords(sums, segment, tenant, tokens);
    yield;
  }
}

function checkLength(
  verification: Verification,
  segment: number,
  expected: { readonly tenant: number; readonly tokens: number },
  row: SqlRow | undefined,
): void {
  const fault = lengthFault(expected, row);
  if (fault !== undefined) verification.report("words", "segment_lengths", segment, fault);
}

function lengthFault(
  { tenant, tokens }: { readonly tenant: number; readonly tokens: number },
  row: SqlRow | undefined,
): string | undefined {
  if (row === undefined) return "The segment has no words in the text index.";
  const isEqual = Number(row.tokens) === tokens && Number(row.tenant) === tenant;
  return isEqual ? undefined : "The count of the segment's words, or whose they are, is wrong.";
}

function addWords(sums: Float64Array, segment: number, tenant: number, tokens: readonly string[]): void {
  for (const [place, token] of tokens.entries()) addWord(sums, segment, toTerm(tenant, token), place);
}

/** Sums of 32-bit hashes: exact in a float64 up to two million words a bucket, and then as good as any. */
function addWord(sums: Float64Array, segment: number, term: string, place: number): void {
  const bucket = segment % BUCKETS;
  sums[bucket] = ((sums[bucket] ?? 0) + crc32(term, (segment * 31 + place) >>> 0)) % 2 ** 52;
}

const PLACES = "SELECT term, doc, offset FROM segment_word_places";

function* sumIndex(verification: Verification, sums: Float64Array): Steps {
  for (const { term, doc, offset } of verification.connection.prepare(PLACES).iterate()) {
    verification.counts.words += 1;
    addWord(sums, Number(doc), String(term), Number(offset));
    yield;
  }
}

/** Words of single segments, of buckets that differ alone. */
function* tellDifferences(verification: Verification, expected: Float64Array, found: Float64Array): Steps {
  const differing = new Set<number>();
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) if (expected[bucket] !== found[bucket]) differing.add(bucket);
  if (differing.size === 0) return;
  const indexed = new Map<number, number>();
  for (const { term, doc, offset } of verification.connection.prepare(PLACES).iterate()) {
    const segment = Number(doc);
    if (!differing.has(segment % BUCKETS)) continue;
    if (indexed.size < SEGMENTS_TOLD_MAX || indexed.has(segment))
      indexed.set(segment, ((indexed.get(segment) ?? 0) + wordSum(segment, String(term), Number(offset))) % 2 ** 52);
    yield;
  }
  for (const row of verification.walk(SEGMENTS)) {
    const segment = Number(row.key);
    yield;
    if (!differing.has(segment % BUCKETS)) continue;
    let sum = 0;
    for (const [place, token] of tokensOf(String(row.token_string)).entries())
      sum = (sum + wordSum(segment, toTerm(Number(row.tenant), token), place)) % 2 ** 52;
    if ((indexed.get(segment) ?? 0) !== sum)
      verification.report(
        "text-index",
        "segment_words",
        segment,
        "The text index does not hold exactly the segment's words.",
      );
    indexed.delete(segment);
  }
  for (const segment of indexed.keys())
    verification.report(
      "text-index",
      "segment_words",
      segment,
      "The text index holds words of a segment that is not there.",
    );
}

function wordSum(segment: number, term: string, place: number): number {
  return crc32(term, (segment * 31 + place) >>> 0);
}

function* checkLengths(verification: Verification): Steps {
  yield;
  verification.attempt("segment_lengths", "segments that are not there", () => {
    for (const segment of lengthsWithout(verification.connection))
      verification.report(
        "words",
        "segment_lengths",
        segment,
        "The text index counts words of a segment that is not there.",
      );
  });
}

function* lengthsWithout(connection: Connection): Generator<string> {
  const select = connection.prepare(
    "SELECT l.segment FROM segment_lengths AS l LEFT JOIN segments AS s ON s.segment = l.segment WHERE s.segment IS NULL",
  );
  for (const { segment } of select.iterate()) yield String(segment);
}
