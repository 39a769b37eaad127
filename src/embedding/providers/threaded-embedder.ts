import { HoldfastError } from "../../errors/index.ts";
import { untilAborted } from "../abort.ts";
import type { Embedder, EmbeddingKind, EmbedOptions, TextReader } from "../embedder.ts";
import type { EmbedderIdentity } from "../identity.ts";
import { checkTexts } from "../text-checks.ts";
import type { EmbeddingQueue } from "./embedding-queue.ts";
import { applyTemplate, type TextTemplates } from "./text-groups.ts";

/** Counts the tokens of a text, the model's special tokens included; 0 when nothing of it reaches the model. */
export type TokenCounter = (text: string) => number;

/** What a local model says of itself before anything is loaded. */
export interface LocalModel {
  readonly identity: EmbedderIdentity;
  readonly dimensions: number;
  readonly maxTokens: number;
  readonly templates?: TextTemplates;
}

/** What a local model needs on the calling thread. */
export interface Prepared {
  readonly count: TokenCounter;
  readonly queue: EmbeddingQueue;
}

/** A model in threads of its own, prepared with the first use. */
export class ThreadedEmbedder implements Embedder {
  readonly identity: EmbedderIdentity;
  readonly dimensions: number;
  readonly maxTokens: number;
  readonly #templates: TextTemplates;
  readonly #load: () => Promise<Prepared>;
  #preparing: Promise<Prepared> | undefined;
  #count: TokenCounter | undefined;
  #closed = false;

  constructor({ identity, dimensions, maxTokens, templates = {} }: LocalModel, load: () => Promise<Prepared>) {
    this.identity = identity;
    this.dimensions = dimensions;
    this.maxTokens = maxTokens;
    this.#templates = templates;
    this.#load = load;
  }

  countTokens(text: string): number {
    return this.#countAs("document", text);
  }

  async open(): Promise<void> {
    await this.#prepare();
  }

  async embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Float32Array[]> {
    if (texts.length === 0) return [];
    const { kind, signal } = options;
    const { queue } = await untilAborted(this.#prepare(), signal);
    const reader: TextReader = {
      identity: this.identity,
      maxTokens: this.maxTokens,
      countTokens: (text) => this.#countAs(kind, text),
    };
    const tokens: number[] = [];
    for (const check of await checkTexts(reader, texts, signal)) {
      if ("error" in check) throw check.error;
      tokens.push(check.tokens ?? 0);
    }
    const inputs = texts.map((text) => applyTemplate(this.#templates[kind], text));
    return queue.embed(inputs, tokens, options);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const prepared = await this.#preparing?.catch(() => undefined);
    await prepared?.queue.close();
  }

  #countAs(kind: EmbeddingKind, text: string): number {
    if (this.#count === undefined)
      throw new HoldfastError("INVALID_ARGUMENT", "countTokens needs the tokenizer; call open() first.");
    const template = this.#templates[kind];
    const own = this.#count(text);
    return template === undefined || own === 0 ? own : this.#count(applyTemplate(template, text));
  }

  #prepare(): Promise<Prepared> {
    if (this.#closed) {
      return Promise.reject(
        new HoldfastError("CLOSED", "The embedder was closed; create another one.", { operation: "embed" }),
      );
    }
    // A failed preparation is tried again: a package may be installed meanwhile.
    this.#preparing ??= this.#prepareOnce().catch((error: unknown) => {
      this.#preparing = undefined;
      throw error;
    });
    return this.#preparing;
  }

  async #prepareOnce(): Promise<Prepared> {
    const prepared = await this.#load();
    this.#count = prepared.count;
    return prepared;
  }
}
