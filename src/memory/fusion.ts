/** A segment that a channel found, or the neighbour of one. */
export interface Candidate {
  readonly segment: number;
  readonly cosine: number | undefined;
  /** BM25; absent when no word of the query is in it. */
  readonly textScore: number | undefined;
  /** Whether the vector channel admitted it; a text hit stands by its own (S5). */
  readonly byVector: boolean;
  /** Whether the question names who said it. */
  readonly producerNamed: boolean;
}

/** What made a score: all in deviations from the mean of the question's candidates. */
export interface ScoreParts {
  readonly text: number;
  readonly vector: number;
  readonly neighbours: number;
  readonly producer: number;
}

export interface Ranked extends Candidate {
  /** In (0, 1): 0.5 is an average candidate of this question. Orders the hits of one answer alone. */
  readonly score: number;
  readonly parts: ScoreParts;
}

/** Named and versioned, so that an answer can say what ordered it (S5). */
export const RANKING = "neighbourhood-1";

/** Both channels weigh alike. */
const TEXT_WEIGHT = 0.5;

/** What the segments one and two places before and after add. In a conversation an answer rarely repeats its question's words. */
export const NEIGHBOUR_WEIGHTS: readonly number[] = [0.4, 0.2];

/** What it adds that the question names who said it, in deviations. */
const PRODUCER_WEIGHT = 1;

export interface FusionInput {
  /** The best that the channels found: their scores' means and deviations are the scale, whatever is asked for. */
  readonly scale: readonly Candidate[];
  /** Segments to rank, each with those before and after it. */
  readonly ranked: readonly Placed[];
}

export interface Placed {
  readonly candidate: Candidate;
  /** By distance; what the filter refuses is absent. */
  readonly before: readonly (Candidate | undefined)[];
  readonly after: readonly (Candidate | undefined)[];
}

/**
 * Orders by the sum of both channels' scores, each standardised over what the channels found (mean 0, deviation 1),
 * with part of the neighbours' sums, ties by age. docs/benchmarks.md says what each part is worth on LoCoMo's questions.
 */
export function fuse({ scale, ranked }: FusionInput): readonly Ranked[] {
  const text = standardOf(scale.map(({ textScore }) => textScore ?? 0));
  const vector = standardOf(scale.flatMap(({ cosine }) => (cosine === undefined ? [] : [cosine])));
  const textPart = ({ textScore }: Candidate): number => TEXT_WEIGHT * text(textScore ?? 0);
  // A segment without a vector is neither near nor far.
  const vectorPart = ({ cosine }: Candidate): number => (cosine === undefined ? 0 : (1 - TEXT_WEIGHT) * vector(cosine));
  const sums = new Map<Candidate, number>();
  const sum = (candidate: Candidate | undefined): number => {
    if (candidate === undefined) return 0;
    const known = sums.get(candidate);
    if (known !== undefined) return known;
    const value = textPart(candidate) + vectorPart(candidate);
    sums.set(candidate, value);
    return value;
  };
  return ranked
    .map(({ candidate, before, after }): Ranked => {
      const neighbours = NEIGHBOUR_WEIGHTS.reduce(
        (total, weight, place) => total + weight * (sum(before[place]) + sum(after[place])),
        0,
      );
      const parts = {
        text: textPart(candidate),
        vector: vectorPart(candidate),
        neighbours,
        producer: candidate.producerNamed ? PRODUCER_WEIGHT : 0,
      };
      return { ...candidate, score: logistic(parts.text + parts.vector + parts.neighbours + parts.producer), parts };
    })
    .sort(byScore);
}

/** The order of one channel alone. */
export function rankByChannel(
  { found, scale }: { readonly found: readonly Candidate[]; readonly scale: readonly Candidate[] },
  channel: "text" | "vector",
): readonly Ranked[] {
  const scoreOf = ({ textScore, cosine }: Candidate): number | undefined => (channel === "text" ? textScore : cosine);
  const standard = standardOf(scale.flatMap((candidate) => scoreOf(candidate) ?? []));
  return found
    .flatMap((candidate): Ranked[] => {
      const own = scoreOf(candidate);
      if (own === undefined) return [];
      const part = standard(own);
      const parts = { text: 0, vector: 0, neighbours: 0, producer: 0, [channel]: part };
      return [{ ...candidate, score: logistic(part), parts }];
    })
    .sort((a, b) => (scoreOf(b) ?? 0) - (scoreOf(a) ?? 0) || a.segment - b.segment);
}

function byScore(a: Ranked, b: Ranked): number {
  return b.score - a.score || a.segment - b.segment;
}

function logistic(value: number): number {
  return 1 / (1 + Math.exp(-value));
}

/** Deviations from the mean of `values`; 0 where they are all alike. */
function standardOf(values: readonly number[]): (value: number) => number {
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length);
  const deviation = Math.sqrt(variance);
  return (value) => (deviation > 0 ? (value - mean) / deviation : 0);
}
