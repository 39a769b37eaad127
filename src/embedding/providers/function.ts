import { assertOptions, type OptionNames } from "../../contract/option-names.ts";
import { HoldfastError } from "../../errors/index.ts";
import { assertEmbedder } from "../assert-embedder.ts";
import type { Embedder, EmbedOptions } from "../embedder.ts";
import type { EmbedderIdentity } from "../identity.ts";
import { applyTemplate, assertTemplates, countAsSent, type TextTemplates } from "./text-groups.ts";

export interface FunctionEmbedderOptions {
  /** What the model is called. With `revision` and `options` it tells this model's vectors from all others. */
  readonly model: string;
  /** Length of every vector that the function answers. */
  readonly dimensions: number;
  /** Who computes the vectors; default `function`. */
  readonly provider?: string;
  /** Which weights stand behind the model's name. */
  readonly revision?: string;
  /** Whatever else changes a vector, as plain JSON; no secrets. */
  readonly options?: EmbedderIdentity["options"];
  /** Texts around what is embedded, with `{text}` in them, such as `query: {text}`. */
  readonly templates?: TextTemplates;
  /** The model's window, which needs `countTokens`. Longer texts are cut into segments; none is cut off. */
  readonly maxTokens?: number;
  /** Tokens of a text as the model sees it. */
  readonly countTokens?: (text: string) => number;
}

const OPTION_NAMES: OptionNames<FunctionEmbedderOptions> = {
  model: true,
  dimensions: true,
  provider: true,
  revision: true,
  options: true,
  templates: true,
  maxTokens: true,
  countTokens: true,
};

/**
 * One vector a text, in their order; at most 64 texts a call, several calls at the same time. An error may carry `status`
 * and `retryAfterMs`, so that a service that is down is told from a text that it refuses.
 */
export type EmbedTexts = (
  texts: readonly string[],
  options: EmbedOptions,
) => Promise<readonly VectorAnswer[]> | readonly VectorAnswer[];

/** A vector as models answer it. */
export type VectorAnswer = Float32Array | readonly number[];

/**
 * A function of your own: `functionEmbedder({ model: "mine", dimensions: 64 }, async (texts, { kind }) => vectors)`.
 *
 * @throws INVALID_ARGUMENT for options that cannot work
 */
export function functionEmbedder(options: FunctionEmbedderOptions, embed: EmbedTexts): Embedder {
  assertOptions(options, OPTION_NAMES, "functionEmbedder");
  if (typeof embed !== "function") throw invalid("functionEmbedder takes options and (texts, { kind }) => vectors.");
  const { model, dimensions, provider = "function", revision, templates, maxTokens, countTokens } = options;
  if (templates !== undefined) assertTemplates(templates);
  if (maxTokens !== undefined && countTokens === undefined)
    throw invalid("maxTokens needs countTokens: tokens are counted and not guessed.");
  const made: Embedder = {
    identity: {
      provider,
      model,
      ...(revision !== undefined && { revision }),
      ...(templates && { templates }),
      ...(options.options && { options: options.options }),
    },
    dimensions,
    ...(maxTokens !== undefined && { maxTokens }),
    ...(countTokens !== undefined && { countTokens: countAsSent(countTokens, templates) }),
    // Whoever asks checks what is answered, and takes arrays of numbers too.
    embed: async (texts, call) =>
      (await embed(
        texts.map((text) => applyTemplate(templates?.[call.kind], text)),
        call,
      )) as readonly Float32Array[],
  };
  assertEmbedder(made);
  return made;
}

function invalid(message: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", message);
}
