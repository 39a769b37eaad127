/** Stands for providers of the AI SDK (specification v3): models in their shape, without a service behind them. */
export const openai = {
  embeddingModel: (modelId) => ({
    specificationVersion: "v3",
    provider: "openai.embedding",
    modelId,
    maxEmbeddingsPerCall: 2048,
    supportsParallelCalls: true,
    async doEmbed({ values }) {
      const embeddings = values.map((text) =>
        Array.from({ length: 1536 }, (_, index) => (text.length % (index + 2)) + 1),
      );
      return { embeddings, warnings: [] };
    },
  }),
};

export const cohere = {
  reranking: (modelId) => ({
    specificationVersion: "v3",
    provider: "cohere.reranking",
    modelId,
    async doRerank({ documents, topN }) {
      const ranking = documents.values.map((text, index) => ({ index, relevanceScore: 1 / text.length }));
      return { ranking: ranking.sort((a, b) => b.relevanceScore - a.relevanceScore).slice(0, topN) };
    },
  }),
};
