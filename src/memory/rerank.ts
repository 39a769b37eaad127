import { HoldfastError } from "../errors/index.ts";
import { rerankChecked } from "../reranking/checked.ts";
import type { Reranker } from "../reranking/reranker.ts";
import type { RecallHit, Reranking } from "./contract.ts";

const DEFAULT_CANDIDATES = 50;
const CANDIDATES_MAX = 1_000;

/** How many hits a reranker judges; `undefined` where it was not asked for. */
export function toCandidates(given: unknown): number | undefined {
  if (given === undefined || given === false) return undefined;
  if (given === true) return DEFAULT_CANDIDATES;
  const { candidates, ...rest } = (typeof given === "object" && given !== null ? given : {}) as Record<string, unknown>;
  const known = Number.isInteger(candidates) && Number(candidates) >= 1 && Number(candidates) <= CANDIDATES_MAX;
  if (known && Object.keys(rest).length === 0) return Number(candidates);
  throw new HoldfastError(
    "INVALID_ARGUMENT",
    `rerank is true, false or { candidates }, a whole number from 1 to ${CANDIDATES_MAX}.`,
  );
}

export function requireReranker(reranker: Reranker | undefined): Reranker {
  if (reranker !== undefined) return reranker;
  throw new HoldfastError("INVALID_ARGUMENT", "This memory has no reranker to rerank with; give openMemory one.");
}

/** The first `candidates` hits in the order of the reranker, ties as they were; when it fails, as they were. */
export async function rerankHits(
  reranker: Reranker,
  hits: readonly RecallHit[],
  options: { readonly question: string; readonly candidates: number; readonly signal?: AbortSignal | undefined },
): Promise<{ readonly hits: readonly RecallHit[]; readonly reranking: Reranking }> {
  const { question, candidates, signal } = options;
  const { name } = reranker;
  const judged = hits.slice(0, candidates);
  const documents = judged.map(({ producer, text }) => (producer === undefined ? text : `${producer}: ${text}`));
  const outcome = await rerankChecked(reranker, { query: question, documents, ...(signal && { signal }) });
  if ("failed" in outcome) return { hits, reranking: { name, candidates: judged.length, failed: outcome.failed } };
  const ordered = judged
    .map((hit, index) => ({ ...hit, rerankScore: outcome.scores[index] ?? 0 }))
    .sort((a, b) => b.rerankScore - a.rerankScore);
  return { hits: [...ordered, ...hits.slice(candidates)], reranking: { name, candidates: judged.length } };
}
