import { HoldfastError } from "../errors/index.ts";
import type { Reranker } from "./reranker.ts";

/** A reranking model of the Vercel AI SDK, taken by its shape: no package is needed. */
export interface AiSdkRerankingModel {
  readonly provider: string;
  readonly modelId: string;
  doRerank(options: {
    readonly documents: { readonly type: "text"; readonly values: string[] };
    readonly query: string;
    readonly topN?: number;
    readonly abortSignal?: AbortSignal;
  }): PromiseLike<{ readonly ranking: readonly { readonly index: number; readonly relevanceScore: number }[] }>;
}

/**
 * Any reranking model of the AI SDK.
 *
 * @throws INVALID_ARGUMENT for what is no such model
 */
export function aiSdkReranker(model: AiSdkRerankingModel): Reranker {
  if (typeof model === "string") {
    const name: string = model;
    const message = `${JSON.stringify(name.slice(0, 64))} is the name of a model; give the model itself, such as cohere.reranking("rerank-v3.5").`;
    throw new HoldfastError("INVALID_ARGUMENT", message);
  }
  const { provider, modelId, doRerank } = (model ?? {}) as Partial<AiSdkRerankingModel>;
  if (typeof provider !== "string" || typeof modelId !== "string" || typeof doRerank !== "function")
    throw new HoldfastError("INVALID_ARGUMENT", "A reranking model of the AI SDK has provider, modelId and doRerank.");
  return {
    name: `${provider}/${modelId}`,
    async rerank({ query, documents, signal }) {
      const { ranking } = await model.doRerank({
        documents: { type: "text", values: [...documents] },
        query,
        // All of them: a text that is left out would have no place in the order.
        topN: documents.length,
        ...(signal && { abortSignal: signal }),
      });
      return ranking.map(({ index, relevanceScore }) => ({ index, score: relevanceScore }));
    },
  };
}

/** Scores each text for a question, in the order of the texts; higher answers better. */
export type ScoreTexts = (
  query: string,
  documents: readonly string[],
  signal: AbortSignal | undefined,
) => Promise<readonly number[]> | readonly number[];

/** A function of your own, such as a local cross-encoder. */
export function functionReranker(name: string, score: ScoreTexts): Reranker {
  if (typeof name !== "string" || name === "" || typeof score !== "function")
    throw new HoldfastError("INVALID_ARGUMENT", "A reranker has a name and a function (query, documents) => scores.");
  return {
    name,
    async rerank({ query, documents, signal }) {
      const scores = await score(query, documents, signal);
      return scores.map((value, index) => ({ index, score: value }));
    },
  };
}
