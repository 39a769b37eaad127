import type { EmbedderIdentity } from "./identity.ts";

/** What a text is embedded as: models with two templates tell what is stored from what asks. */
export type EmbeddingKind = "document" | "query";

export interface EmbedOptions {
  readonly kind: EmbeddingKind;
  /** Ends the call with ABORTED, or TIMEOUT when it came from `AbortSignal.timeout`. */
  readonly signal?: AbortSignal;
}

/**
 * Turns texts into vectors. Implement it for a model of your own; Holdfast checks every answer
 * and never stores one that is short, of another size, not finite or zero.
 */
export interface Embedder {
  /** Everything that changes a vector, and no secret: vectors of two identities are never compared (M1). */
  readonly identity: EmbedderIdentity;
  /** Length of every vector that `embed` answers. */
  readonly dimensions: number;
  /** Longest text in tokens, the model's own special tokens included. Longer texts are refused, never cut. */
  readonly maxTokens?: number;
  /**
   * Tokens of `text` as the model sees it, special tokens included; 0 when nothing of the text
   * reaches the model. Never fewer than the model counts. Called after `open`.
   */
  countTokens?(text: string): number;
  /**
   * One vector a text, in input order. May be called by several callers at once. An error may carry `status` (of HTTP) and
   * `retryAfterMs`: the pause that a busy service asks for is kept.
   */
  embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Float32Array[]>;
  /** Prepares `countTokens` and `embed`. Called before each use: make the second call free. */
  open?(): Promise<void>;
  /** Frees what `open` and `embed` took. */
  close?(): Promise<void>;
}

/** What of an embedder the checks of texts need. */
export type TextReader = Pick<Embedder, "identity" | "maxTokens" | "countTokens">;
