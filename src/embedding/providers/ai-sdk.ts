import { assertOptions, type OptionNames } from "../../contract/option-names.ts";
import { HoldfastError } from "../../errors/index.ts";
import { anySignal } from "../../io/signals.ts";
import { assertEmbedder } from "../assert-embedder.ts";
import type { Embedder, EmbedOptions } from "../embedder.ts";
import type { IdentityValue } from "../identity-options.ts";
import { applyTemplate, assertTemplates, countAsSent, inGroups, type TextTemplates } from "./text-groups.ts";

/** An embedding model of the Vercel AI SDK (specifications v2 to v4), taken by its shape: no package is needed. */
export interface AiSdkEmbeddingModel {
  readonly provider: string;
  readonly modelId: string;
  readonly maxEmbeddingsPerCall?: number | undefined | PromiseLike<number | undefined>;
  readonly supportsParallelCalls?: boolean | PromiseLike<boolean>;
  doEmbed(options: {
    readonly values: string[];
    readonly abortSignal?: AbortSignal;
    readonly headers?: Record<string, string | undefined>;
    // biome-ignore lint/suspicious/noExplicitAny: each provider has options of its own, typed by its package.
    readonly providerOptions?: any;
  }): PromiseLike<{ readonly embeddings: readonly (readonly number[])[] }>;
}

export interface AiSdkEmbedderOptions {
  /** Length of the model's vectors. */
  readonly dimensions: number;
  /** Options of the model's provider as plain JSON, such as `{ openai: { dimensions: 512 } }`. Part of the identity; no secrets. */
  readonly providerOptions?: Readonly<Record<string, IdentityValue>>;
  /** Which weights stand behind the model's name. */
  readonly revision?: string;
  readonly requestedDimensions?: number;
  readonly templates?: TextTemplates;
  readonly maxTokens?: number;
  readonly countTokens?: (text: string) => number;
}

const OPTION_NAMES: OptionNames<AiSdkEmbedderOptions> = {
  dimensions: true,
  providerOptions: true,
  revision: true,
  requestedDimensions: true,
  templates: true,
  maxTokens: true,
  countTokens: true,
};

/** When a model does not say how many texts it takes. */
const TEXTS_PER_CALL = 64;
const PARALLEL_CALLS = 4;

/**
 * Any embedding model of the AI SDK: `aiSdkEmbedder(openai.embeddingModel("text-embedding-3-small"), { dimensions: 1536 })`.
 * One `doEmbed` a batch, so that a batch that fails costs the others nothing; retries are the caller's provider's.
 *
 * @throws INVALID_ARGUMENT for what is no such model, and for options that cannot work
 */
export function aiSdkEmbedder(model: AiSdkEmbeddingModel, options: AiSdkEmbedderOptions): Embedder {
  assertModel(model);
  assertOptions(options, OPTION_NAMES, "aiSdkEmbedder");
  const { dimensions, revision, requestedDimensions, templates, maxTokens, countTokens, providerOptions } = options;
  if (templates !== undefined) assertTemplates(templates);
  const made: Embedder = {
    identity: {
      provider: model.provider,
      model: model.modelId,
      ...(revision !== undefined && { revision }),
      ...(requestedDimensions !== undefined && { requestedDimensions }),
      ...(templates && { templates }),
      ...(providerOptions && { options: providerOptions }),
    },
    dimensions,
    ...(maxTokens !== undefined && { maxTokens }),
    ...(countTokens !== undefined && { countTokens: countAsSent(countTokens, templates) }),
    embed: (texts, call) => embed(model, texts, { ...call, options }),
  };
  assertEmbedder(made);
  return made;
}

async function embed(
  model: AiSdkEmbeddingModel,
  texts: readonly string[],
  { kind, signal, options }: EmbedOptions & { readonly options: AiSdkEmbedderOptions },
): Promise<readonly Float32Array[]> {
  const { templates, providerOptions } = options;
  const textsPerCall = Math.max(1, (await model.maxEmbeddingsPerCall) ?? TEXTS_PER_CALL);
  const parallel = (await model.supportsParallelCalls) === true ? PARALLEL_CALLS : 1;
  const groups = inGroups(
    texts.map((text) => applyTemplate(templates?.[kind], text)),
    { textsPerCall },
  );
  const answers: Float32Array[][] = [];
  let next = 0;
  const failed = new AbortController();
  const abortSignal = signal === undefined ? failed.signal : anySignal([signal, failed.signal]);
  const work = async (): Promise<void> => {
    for (let index = next++; index < groups.length && !failed.signal.aborted; index = next++) {
      const values = [...(groups[index] ?? [])];
      const { embeddings } = await model.doEmbed({
        values,
        abortSignal,
        ...(providerOptions && { providerOptions }),
      });
      if (!Array.isArray(embeddings) || embeddings.length !== values.length)
        throw new Error(`The model answered ${embeddings?.length ?? "no"} embeddings for ${values.length} texts.`);
      answers[index] = embeddings.map((embedding) => Float32Array.from(embedding));
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(parallel, groups.length) }, work));
  } catch (error) {
    // What the others would bring is thrown away, and paid for.
    failed.abort();
    throw error;
  }
  return answers.flat();
}

function assertModel(model: unknown): asserts model is AiSdkEmbeddingModel {
  if (typeof model === "string") {
    const message = `${JSON.stringify(model.slice(0, 64))} is the name of a model; give the model itself, such as openai.embeddingModel("text-embedding-3-small").`;
    throw new HoldfastError("INVALID_ARGUMENT", message);
  }
  const { provider, modelId, doEmbed } = (model ?? {}) as Partial<AiSdkEmbeddingModel>;
  if (typeof provider === "string" && typeof modelId === "string" && typeof doEmbed === "function") return;
  throw new HoldfastError("INVALID_ARGUMENT", "An embedding model of the AI SDK has provider, modelId and doEmbed.");
}
