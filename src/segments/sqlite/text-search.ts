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
 * Finds the segments of one tenant whose words fit the query's, by BM25 (k1 1.2, b 0.75).
 *
 * Exact: frequencies and lengths are those of the index, rejected segments take no place in the limit, and no plan
 * changes a score. Costs as much as the tenant's own occurrences of the words, whatever other tenants hold. Runs
 * inside the caller's read transaction, in which `documents` and `totalTokens` were read; needs a table `segments`
 * with the columns `segment` (its primary key) and `token_string`.
 *
 * @returns at most `limit` segments with a word of the query, best first, ties by segment; scores are above 0
 */
export function searchText(connection: Connection, query: TextQuery): ScoredSegment[] {
  const words = query.limit > 0 ? findWords(connection, query) : [];
  if (words.length === 0) return [];
  const search = new TextSearch(connection, query, words);
  return query.admitted !== undefined && search.isCheaperBySegment(query.admitted.size, 0)
    ? search
        .best(
          Array.from(query.admitted, (segment): Candidate => [segment, 0]),
          0,
        )
        .toSorted()
    : search.scan();
}

interface QueryWord {
  readonly escaped: string;
  readonly term: string;
  readonly containing: number;
  readonly inverse: number;
}

type Candidate = readonly [segment: number, score: number];

/** The query's words that the tenant has, rarest first: the one order in which every plan adds. */
function findWords(connection: Connection, query: TextQuery): readonly QueryWord[] {
  const count = connection.prepare(COUNT);
  const words: QueryWord[] = [];
  for (const escaped of new Set(tokensOf(toTokenString(query.queryTokens)))) {
    const term = toTerm(query.tenant, escaped);
    const containing = Number(count.get(term)?.doc ?? 0);
    if (containing > 0) words.push({ escaped, term, containing, inverse: inverseFrequency(query, containing) });
  }
  return words.sort((a, b) => a.containing - b.containing || (a.escaped < b.escaped ? -1 : 1));
}

class TextSearch {
  readonly #connection: Connection;
  readonly #query: TextQuery;
  readonly #words: readonly QueryWord[];
  readonly #scores = new Map<number, number>();
  readonly #admissions = new Map<number, boolean>();

  constructor(connection: Connection, query: TextQuery, words: readonly QueryWord[]) {
    this.#connection = connection;
    this.#query = query;
    this.#words = words;
  }

  /** Adds word by word, and stops where reading the few that can still win is cheaper than the common words' lists. */
  scan(): ScoredSegment[] {
    this.#addOccurrences(0);
    for (let next = 1; next < this.#words.length; next++) {
      const contenders = this.#contenders(next);
      if (contenders !== undefined) return this.best(contenders, next).toSorted();
      this.#addOccurrences(next);
    }
    return this.best(this.#scores, this.#words.length).toSorted();
  }

  isCheaperBySegment(segments: number, from: number): boolean {
    const occurrences = this.#words.slice(from).reduce((sum, word) => sum + word.containing, 0);
    return segments * OCCURRENCES_PER_SEGMENT_READ < occurrences;
  }

  /** The best of the admitted candidates, each completed with the words from `from` on out of its own tokens. */
  best(candidates: Iterable<Candidate>, from: number): TopScores {
    const top = new TopScores(this.#query.limit);
    for (const [segment, partial] of candidates) {
      const candidate = {
        segment,
        score: from < this.#words.length ? this.#complete(segment, partial, from) : partial,
      };
      if (candidate.score > 0 && top.accepts(candidate) && this.#isAdmitted(segment)) top.add(candidate);
    }
    return top;
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

  /** The candidates that can still be among the best, or `undefined` where it is cheaper to go on by word. */
  #contenders(next: number): readonly Candidate[] | undefined {
    if (this.#scores.size < this.#query.limit || !this.isCheaperBySegment(this.#query.limit, next)) return undefined;
    const { threshold } = this.best(this.#scores, this.#words.length);
    const rest = ROUNDING * this.#words.slice(next).reduce((sum, word) => sum + wordScoreMax(word.inverse), 0);
    // A segment that holds only the words to come could win: go on.
    if (rest >= threshold) return undefined;
    const contenders = [...this.#scores].filter(([, score]) => score + rest >= threshold);
    return this.isCheaperBySegment(contenders.length, next) ? contenders : undefined;
  }

  #complete(segment: number, partial: number, from: number): number {
    const row = this.#connection.prepare(SEGMENT).get(segment, this.#query.tenant);
    if (row === undefined) return 0;
    const frequencies = new Map<string, number>();
    for (const token of tokensOf(String(row.words))) frequencies.set(token, (frequencies.get(token) ?? 0) + 1);
    let score = partial;
    for (const word of this.#words.slice(from)) {
      const frequency = frequencies.get(word.escaped) ?? 0;
      if (frequency > 0) score += wordScore(this.#query, word.inverse, { frequency, length: Number(row.length) });
    }
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
