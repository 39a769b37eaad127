import type { Connection } from "../../database/connection.ts";
import { type Corpus, inverseFrequency, wordScore, wordScoreMax } from "../bm25.ts";
import { type ScoredSegment, TopScores } from "../top-scores.ts";
import { tokensOf, toTerm, toTokenString } from "./terms.ts";

const COUNT = "SELECT doc FROM segment_word_counts WHERE term = ?";

// One row for a whole list: a row object for each occurrence would take six times as long. The outer loop is the
// index's, in the order of segments.
const PLACES = `
SELECT json_group_array(place.doc) AS segments, json_group_array(length.tokens) AS lengths
FROM segment_word_places AS place CROSS JOIN segment_lengths AS length ON length.segment = place.doc
WHERE place.term = ?`;

const SEGMENT = `
SELECT segment.token_string AS words, length.tokens AS length
FROM segments AS segment CROSS JOIN segment_lengths AS length ON length.segment = segment.segment
WHERE segment.segment = ? AND length.tenant = ?`;

/** Reading one segment's own words costs about as much as this many occurrences in the index. */
const OCCURRENCES_PER_SEGMENT_READ = 16;

/**
 * Words of a query that are searched: its rarest, which carry its score. A question may be a pasted page, and each word
 * costs its list: 10,000 of them took a minute of the reader on 10,000 segments.
 */
const QUERY_WORDS_MAX = 64;

/** Words that are looked up to find the rarest. */
const QUERY_WORDS_LOOKED_UP_MAX = 4_096;

/** Above every error of rounding in a sum of scores. */
const ROUNDING = 1 + 1e-9;

export interface TextQuery extends Corpus {
  /** The tenant's number; nothing of another tenant is read. */
  readonly tenant: number;
  /** As `tokeniseWords` answers them; a repeated word counts once. */
  readonly queryTokens: readonly string[];
  /** Count, from 0. */
  readonly limit: number;
  /** Tells whether a segment may be answered. Asked at most once for each, and only when its score could win. */
  readonly admits?: (segment: number) => boolean;
  /** All that may be answered, where they are known: a small set is scored without reading the index's lists. */
  readonly admitted?: ReadonlySet<number>;
}

/**
 * Finds the segments of one tenant whose words fit the query's, by BM25.
 *
 * Exact, by at most the 64 rarest of the query's words: frequencies and lengths are those of the index, rejected segments take no place in the limit, and no plan
 * changes a score. Costs as much as the tenant's own occurrences of the words, whatever other tenants hold. Runs
 * inside the caller's read transaction, in which `documents` and `totalTokens` were read; needs a table `segments`
 * with the columns `segment` (its primary key) and `token_string`.
 *
 * @returns at most `limit` segments with a word of the query, best first, ties by segment; scores are above 0
 */
export function searchText(
  connection: Connection,
  query: TextQuery,
  words: readonly QueryWord[] = findWords(connection, query),
): ScoredSegment[] {
  if (words.length === 0 || query.limit === 0) return [];
  const search = new TextSearch(connection, query, words);
  const { admitted } = query;
  const small = admitted !== undefined && admitted.size * OCCURRENCES_PER_SEGMENT_READ < search.occurrencesFrom(0);
  return small ? search.readEach(admitted) : search.scan();
}

/** A word of a query that the tenant has. */
export interface QueryWord {
  readonly escaped: string;
  readonly term: string;
  readonly containing: number;
  readonly inverse: number;
}

type Candidate = readonly [segment: number, score: number];

/**
 * The query's words that the tenant has, at most its 64 rarest, rarest first: the one order in which every plan adds. For
 * callers who search more than once in one transaction.
 */
export function findWords(connection: Connection, query: Omit<TextQuery, "limit">): readonly QueryWord[] {
  const count = connection.prepare(COUNT);
  const words: QueryWord[] = [];
  const asked = new Set(tokensOf(toTokenString(query.queryTokens)));
  for (const escaped of [...asked].slice(0, QUERY_WORDS_LOOKED_UP_MAX)) {
    const term = toTerm(query.tenant, escaped);
    const containing = Number(count.get(term)?.doc ?? 0);
    if (containing > 0) words.push({ escaped, term, containing, inverse: inverseFrequency(query, containing) });
  }
  return words
    .sort((a, b) => a.containing - b.containing || (a.escaped < b.escaped ? -1 : 1))
    .slice(0, QUERY_WORDS_MAX);
}

class TextSearch {
  readonly #connection: Connection;
  readonly #query: TextQuery;
  readonly #words: readonly QueryWord[];
  readonly #scores = new Map<number, number>();
  readonly #completed = new Map<number, number>();
  readonly #admissions = new Map<number, boolean>();

  constructor(connection: Connection, query: TextQuery, words: readonly QueryWord[]) {
    this.#connection = connection;
    this.#query = query;
    this.#words = words;
  }

  /** Adds word by word, and stops where the common words' lists are dearer than reading those that can still win. */
  scan(): ScoredSegment[] {
    this.#addOccurrences(0);
    for (let next = 1; next < this.#words.length; next++) {
      const winners = this.#tryWinners(next);
      if (winners !== undefined) return winners.toSorted();
      this.#addOccurrences(next);
    }
    return this.#best(this.#scores);
  }

  /** Scores segments by their own tokens alone. */
  readEach(segments: ReadonlySet<number>): ScoredSegment[] {
    return this.#best(Array.from(segments, (segment): Candidate => [segment, this.#complete(segment, 0, 0)]));
  }

  /** In how many segments the words from `index` on are, in all: what reading their lists costs. */
  occurrencesFrom(index: number): number {
    return this.#words.slice(index).reduce((sum, word) => sum + word.containing, 0);
  }

  #best(candidates: Iterable<Candidate>): ScoredSegment[] {
    const top = new TopScores(this.#query.limit);
    for (const [segment, score] of candidates) {
      const candidate = { segment, score };
      if (score > 0 && top.accepts(candidate) && this.#isAdmitted(segment)) top.add(candidate);
    }
    return top.toSorted();
  }

  #addOccurrences(index: number): void {
    const word = this.#words[index];
    const row = word && this.#connection.prepare(PLACES).get(word.term);
    if (word === undefined || row === undefined) return;
    const segments: readonly number[] = JSON.parse(String(row.segments));
    const lengths: readonly number[] = JSON.parse(String(row.lengths));
    for (let start = 0, end = 0; start < segments.length; start = end) {
      const segment = segments[start] ?? 0;
      while (segments[end] === segment) end++;
      const found = { frequency: end - start, length: lengths[start] ?? 0 };
      this.#scores.set(segment, (this.#scores.get(segment) ?? 0) + wordScore(this.#query, word.inverse, found));
    }
  }

  /**
   * Completes candidates from the top, until none below can reach the worst winner. Answers `undefined` where a
   * segment without any word so far could win, or where that takes more reads than the lists to come are worth.
   */
  #tryWinners(next: number): TopScores | undefined {
    const { limit } = this.#query;
    const rest = ROUNDING * this.#words.slice(next).reduce((sum, word) => sum + wordScoreMax(word.inverse), 0);
    const occurrences = this.occurrencesFrom(next);
    const readsMax = occurrences / OCCURRENCES_PER_SEGMENT_READ;
    if (limit > readsMax || this.#scores.size < limit || this.#scores.size > occurrences) return undefined;
    const top = new TopScores(limit);
    let reads = 0;
    for (const [segment, partial] of [...this.#scores].sort(([, a], [, b]) => b - a)) {
      if (partial + rest < top.threshold) break;
      if (++reads > readsMax) return undefined;
      if (!this.#isAdmitted(segment)) continue;
      const candidate = { segment, score: this.#complete(segment, partial, next) };
      if (top.accepts(candidate)) top.add(candidate);
    }
    return rest < top.threshold ? top : undefined;
  }

  /** Adds the words from `from` on out of the segment's own tokens: the same at every step, as every plan adds in one order. */
  #complete(segment: number, partial: number, from: number): number {
    const known = this.#completed.get(segment);
    if (known !== undefined) return known;
    const row = this.#connection.prepare(SEGMENT).get(segment, this.#query.tenant);
    if (row === undefined) return 0;
    const frequencies = new Map<string, number>();
    for (const token of tokensOf(String(row.words))) frequencies.set(token, (frequencies.get(token) ?? 0) + 1);
    let score = partial;
    for (const word of this.#words.slice(from)) {
      const frequency = frequencies.get(word.escaped) ?? 0;
      if (frequency > 0) score += wordScore(this.#query, word.inverse, { frequency, length: Number(row.length) });
    }
    this.#completed.set(segment, score);
    return score;
  }

  #isAdmitted(segment: number): boolean {
    const known = this.#admissions.get(segment);
    if (known !== undefined) return known;
    const { admits, admitted } = this.#query;
    const answer = (admitted?.has(segment) ?? true) && (admits?.(segment) ?? true);
    this.#admissions.set(segment, answer);
    return answer;
  }
}
