/** Judges how well texts answer a question, such as a cross-encoder or a service. */
export interface Reranker {
  /** Named in the answers that it ordered. */
  readonly name: string;
  /**
   * One score for each document, by its place in `documents`, in any order; higher answers better, on any scale.
   * Whoever calls it survives that it fails.
   */
  rerank(request: RerankRequest): Promise<readonly RerankScore[]>;
}

export interface RerankRequest {
  readonly query: string;
  /** At least one. */
  readonly documents: readonly string[];
  readonly signal?: AbortSignal;
}

export interface RerankScore {
  readonly index: number;
  readonly score: number;
}
