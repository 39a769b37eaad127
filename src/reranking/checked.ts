import { untilAborted } from "../embedding/abort.ts";
import { anySignal } from "../io/signals.ts";
import type { Reranker, RerankRequest } from "./reranker.ts";

/** A reranker's scores in the order of the documents, or what it failed with. */
export type Reranked = { readonly scores: readonly number[] } | { readonly failed: string };

/** How long one call of a reranker is waited for. */
const RERANK_TIMEOUT_MS = 10_000;

const NAME = /^[A-Z][A-Za-z]{1,60}$/;

/**
 * Calls a reranker and checks its answer: a finite score for each document, none twice. A failure is an outcome and no
 * error, so that the order before it stands.
 *
 * @throws ABORTED, TIMEOUT of the caller's own signal
 */
export async function rerankChecked(
  reranker: Reranker,
  { query, documents, signal }: RerankRequest,
  timeoutMs: number = RERANK_TIMEOUT_MS,
): Promise<Reranked> {
  if (documents.length === 0) return { scores: [] };
  const late = AbortSignal.timeout(timeoutMs);
  const bound = signal === undefined ? late : anySignal([signal, late]);
  try {
    // A reranker may ignore the signal, throw before it answers a promise, and change the list that it is given.
    const { length } = documents;
    const call = (async () => reranker.rerank({ query, documents: [...documents], signal: bound }))();
    return toScores(await untilAborted(call, bound), length);
  } catch (error) {
    if (signal?.aborted === true) throw error;
    if (late.aborted) return { failed: `It did not answer within ${timeoutMs} ms.` };
    return { failed: reasonOf(error) };
  }
}

/** Its kind and status: the message of a provider may quote texts and keys (O4). */
function reasonOf(error: unknown): string {
  const { name, status, statusCode } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const kind = typeof name === "string" && NAME.test(name) ? name : "an error";
  const number = Number(status ?? statusCode);
  return Number.isInteger(number) ? `It raised ${kind}, status ${number}.` : `It raised ${kind}.`;
}

function toScores(answer: unknown, count: number): Reranked {
  if (!Array.isArray(answer) || answer.length !== count)
    return { failed: `It answered ${Array.isArray(answer) ? answer.length : "no list of"} scores for ${count} texts.` };
  const scores = new Array<number | undefined>(count);
  for (const entry of answer as readonly unknown[]) {
    const { index, score } = (entry ?? {}) as { readonly index?: unknown; readonly score?: unknown };
    if (!isPlace(index, count) || scores[index] !== undefined)
      return { failed: "It named a text that was not asked about, or one twice." };
    if (typeof score !== "number" || !Number.isFinite(score))
      return { failed: "It answered a score that is no number." };
    scores[index] = score;
  }
  return { scores: scores.map((score) => score ?? 0) };
}

function isPlace(index: unknown, count: number): index is number {
  return Number.isInteger(index) && Number(index) >= 0 && Number(index) < count;
}
