import type { Hit } from "../backends/embedded/search.ts";
import type { ReadView } from "../database/operation.ts";
import { type SegmentLine, segmentLines, segmentPlaces } from "../segments/sqlite/neighbours.ts";
import type { ScoredSegment } from "../segments/top-scores.ts";
import { tokeniseWords } from "../segments/words.ts";
import { segmentOfVector } from "./derivatives.ts";
import { type Candidate, fuse, NEIGHBOUR_WEIGHTS, type Placed, type Ranked } from "./fusion.ts";
import type { RecallInput } from "./recall.ts";
import type { Admission, TextChannel, VectorChannel } from "./recall-channels.ts";

/**
 * Answers are ranked in steps: the first hits from the best candidates, whatever the limit, then those up to four times
 * as many from more, and so on. Were all ranked at once, a larger limit would lift some from far below by their
 * neighbours and change the answer to a smaller one (S5).
 */
const FIRST_STEP = 40;
const STEP_FACTOR = 4;

/** Candidates that each channel gives for one that is answered: fusion may lift what one channel ranks low. */
const CANDIDATES_PER_HIT = 2;
const CANDIDATES_MIN = 100;

/** The best of what the channels found, whose neighbours are looked at: more than are answered, for damaged ones. */
const LEADING_PER_HIT = 1.5;

/** So many of each channel's best are the scale of all scores: the same for every limit. */
const SCALE_PER_CHANNEL = 100;

/** So many places around a leading segment are ranked themselves: an answer stands beside what it answers. */
const RANKED_AROUND = 2;

export interface Channels {
  readonly texts: TextChannel;
  readonly vectors: VectorChannel;
  readonly admission: Admission;
}

/** What the channels found. */
export interface Found {
  /** Of each channel's best so many. */
  within(perChannel: number): readonly Candidate[];
  /** Whose scores' means and deviations are the scale. */
  readonly scale: readonly Candidate[];
}

/** How many hits the last step of an answer ranks. */
function lastStep(limit: number): number {
  let size = FIRST_STEP;
  while (size < limit) size *= STEP_FACTOR;
  return size;
}

function candidatesFor(size: number): number {
  return Math.max(CANDIDATES_MIN, size * CANDIDATES_PER_HIT);
}

/** How many candidates of each channel an answer of `limit` hits is ranked from. */
export function candidatesPerChannel(limit: number): number {
  return candidatesFor(lastStep(limit));
}

/** Segments with the scores of both channels, each computed once. */
export class CandidateSet {
  readonly #view: ReadView;
  readonly #input: RecallInput;
  readonly #channels: Channels;
  readonly #known = new Map<number, Candidate>();
  readonly #sessions = new Map<number, number>();
  readonly #named = new Map<string, boolean>();
  readonly #question: ReadonlySet<string>;

  constructor(view: ReadView, input: RecallInput, channels: Channels) {
    this.#view = view;
    this.#input = input;
    this.#channels = channels;
    this.#question = new Set(input.allWords);
  }

  /** What the channels found, each with its score in the other channel too. */
  join(byText: readonly ScoredSegment[], byVector: readonly Hit[]): Found {
    const cosines = new Map(byVector.map(({ id, cosineSimilarity }) => [segmentOfVector(id), cosineSimilarity]));
    const texts = new Map(byText.map(({ segment, score }) => [segment, score]));
    const segments = [...new Set([...cosines.keys(), ...texts.keys()])];
    this.#add(segments, { cosines, texts });
    const channels = [[...cosines.keys()], [...texts.keys()]];
    const within = (perChannel: number): readonly Candidate[] => {
      const best = new Set(channels.flatMap((own) => own.slice(0, perChannel)));
      return Array.from(best).flatMap((segment) => this.#known.get(segment) ?? []);
    };
    return { within, scale: within(SCALE_PER_CHANNEL) };
  }

  /** Other segments that the filter admits, with their scores. */
  complete(segments: readonly number[]): void {
    const { admission } = this.#channels;
    const missing = segments.filter((segment) => !this.#known.has(segment) && admission.admits(segment));
    this.#add([...new Set(missing)], { cosines: new Map(), texts: new Map() });
  }

  get(segment: number): Candidate | undefined {
    return this.#known.get(segment);
  }

  #add(
    segments: readonly number[],
    { cosines, texts }: { readonly cosines: ReadonlyMap<number, number>; readonly texts: ReadonlyMap<number, number> },
  ): void {
    const withoutCosine = segments.filter((segment) => !cosines.has(segment));
    const withoutText = segments.filter((segment) => !texts.has(segment));
    const moreCosines = this.#channels.vectors.score(withoutCosine);
    const others = new Map(withoutCosine.map((segment, index) => [segment, moreCosines[index]]));
    const moreTexts = new Map(
      this.#channels.texts.score(new Set(withoutText)).map(({ segment, score }) => [segment, score]),
    );
    const places = segmentPlaces(this.#view.connection, segments);
    for (const segment of segments) {
      const place = places.get(segment);
      if (place !== undefined) this.#sessions.set(segment, place.session);
      const cosine = cosines.get(segment) ?? others.get(segment);
      this.#known.set(segment, {
        segment,
        cosine,
        textScore: texts.get(segment) ?? moreTexts.get(segment),
        byVector: cosine !== undefined && cosine >= this.#input.minCosineSimilarity,
        producerNamed: this.#isNamed(place?.producer),
      });
    }
  }

  /** Whether every word of the producer's name is in the question. */
  #isNamed(producer: string | undefined): boolean {
    if (producer === undefined) return false;
    const known = this.#named.get(producer);
    if (known !== undefined) return known;
    const words = tokeniseWords(producer);
    const named = words.length > 0 && words.every((word) => this.#question.has(word));
    this.#named.set(producer, named);
    return named;
  }

  /** Known segments with those around them, in the order of `segments`. */
  lines(segments: readonly number[], reach: number): readonly SegmentLine[] {
    const bySession = new Map<number, number[]>();
    for (const segment of segments) {
      const session = this.#sessions.get(segment);
      if (session === undefined) continue;
      const own = bySession.get(session);
      if (own === undefined) bySession.set(session, [segment]);
      else own.push(segment);
    }
    const lines = new Map<number, SegmentLine>();
    for (const [session, own] of bySession) {
      for (const [segment, line] of segmentLines(this.#view.connection, session, { segments: own, reach }))
        lines.set(segment, line);
    }
    // One whose row is gone stands alone: whoever reads it counts the damage.
    return segments.map((segment) => lines.get(segment) ?? { segments: [segment], at: 0 });
  }
}

/** Ranks the best of what was found and what stands around it, step by step; that is several times what is answered. */
export function rankWithNeighbours(
  input: RecallInput,
  { candidates, found }: { readonly candidates: CandidateSet; readonly found: Found },
): readonly Ranked[] {
  const answered = new Map<number, Ranked>();
  let least = Number.POSITIVE_INFINITY;
  for (let size = FIRST_STEP; ; size *= STEP_FACTOR) {
    const isLast = size >= input.limit;
    for (const ranked of rankStep(size, candidates, found)) {
      if (!isLast && answered.size === size) break;
      if (answered.has(ranked.segment)) continue;
      // Scores fall from hit to hit, also over the end of a step.
      least = Math.min(least, ranked.score);
      answered.set(ranked.segment, { ...ranked, score: least });
    }
    if (isLast) return [...answered.values()];
  }
}

/** The ranking from which an answer of `size` hits is taken. */
function rankStep(size: number, candidates: CandidateSet, { within, scale }: Found): readonly Ranked[] {
  const found = within(candidatesFor(size));
  const alone = fuse({ scale, ranked: found.map((candidate) => ({ candidate, before: [], after: [] })) });
  const reach = RANKED_AROUND + NEIGHBOUR_WEIGHTS.length;
  const leading = alone.slice(0, Math.ceil(size * LEADING_PER_HIT)).map(({ segment }) => segment);
  const lines = candidates.lines(leading, reach);
  candidates.complete(lines.flatMap(({ segments }) => segments));
  const placed = new Map<number, Placed>();
  for (const { segments, at } of lines) {
    const last = Math.min(segments.length - 1, at + RANKED_AROUND);
    for (let index = Math.max(0, at - RANKED_AROUND); index <= last; index += 1)
      place(segments, index, candidates, placed);
  }
  return fuse({ scale, ranked: [...placed.values()] });
}

function place(line: readonly number[], index: number, candidates: CandidateSet, placed: Map<number, Placed>): void {
  const segment = line[index];
  const candidate = segment === undefined ? undefined : candidates.get(segment);
  if (candidate === undefined || placed.has(candidate.segment)) return;
  // Beside a found segment stands many a one that no channel admits: it counts, and is not answered.
  if (!candidate.byVector && candidate.textScore === undefined) return;
  const around = (from: number, step: number): readonly (Candidate | undefined)[] =>
    NEIGHBOUR_WEIGHTS.map((_, distance) => {
      const neighbour = line[from + step * distance];
      return neighbour === undefined ? undefined : candidates.get(neighbour);
    });
  placed.set(candidate.segment, { candidate, before: around(index - 1, -1), after: around(index + 1, 1) });
}
