import { createRequire } from "node:module";
import { basename, resolve, sep } from "node:path";
import { LIMITS } from "../../contract/limits.ts";
import { assertOptions, type OptionNames } from "../../contract/option-names.ts";
import { HoldfastError } from "../../errors/index.ts";
import type { Embedder } from "../embedder.ts";
import { EmbeddingQueue } from "./embedding-queue.ts";
import { startEmbeddingThread } from "./embedding-thread.ts";
import { importPackage } from "./packages.ts";
import { assertTemplates, type TextTemplates } from "./text-groups.ts";
import { type LocalModel, type Prepared, ThreadedEmbedder } from "./threaded-embedder.ts";
import {
  contentRevision,
  DTYPES,
  isDtype,
  loadFolderTokens,
  type ModelFolder,
  readModelFolder,
  type TransformersDtype,
} from "./transformers-model.ts";

export interface TransformersOptions {
  /** The model's folder: `config.json`, `tokenizer.json`, `tokenizer_config.json` and `onnx/model.onnx`. Nothing is downloaded. */
  readonly model: string;
  /** How the vectors of a text's tokens become one, as the model was trained: `mean` for MiniLM, E5 and GTE, `cls` for BGE. */
  readonly pooling: "mean" | "cls" | "last";
  /** Scales vectors to norm 1; default true. */
  readonly normalize?: boolean;
  /** Precision of the weights, each a file of the folder; default `fp32`. */
  readonly dtype?: TransformersDtype;
  /** Length of the model's vectors; default `hidden_size` of its `config.json`. */
  readonly dimensions?: number;
  /** Texts around what is embedded, with `{text}` in them, such as `query: {text}`. */
  readonly templates?: TextTemplates;
  /** Longest text in tokens, special tokens included; default what the model takes, and at most that. */
  readonly maxTokens?: number;
  /** What the model is called in the identity; default the folder's own name. Give it where the folder's name may change. */
  readonly name?: string;
  /**
   * Which weights these are; default a hash of the weights and the tokenizer, for which the files are read once: a second
   * or two for each GB.
   */
  readonly revision?: string;
}

const OPTION_NAMES: OptionNames<TransformersOptions> = {
  model: true,
  pooling: true,
  normalize: true,
  dtype: true,
  dimensions: true,
  templates: true,
  maxTokens: true,
  name: true,
  revision: true,
};

/** What the thread is started with. */
export interface TransformersSettings {
  readonly packageName: string;
  readonly folder: string;
  readonly dtype: TransformersDtype;
  readonly pooling: TransformersOptions["pooling"];
  readonly normalize: boolean;
}

const PACKAGE = "@huggingface/transformers";

/** A slice is one longer text or a few short ones: so long does a query wait behind documents. */
const TOKENS_PER_SLICE_MAX = 64;
const TEXTS_PER_SLICE_MAX = 16;

const QUEUE_BYTES_MAX = 64 * 1024 * 1024;

/** Native code is not ended early, so that this bounds nothing. */
const CLOSE_GRACE_MS = 10_000;

/**
 * A model of a local folder, run by transformers.js (`@huggingface/transformers`, which you install beside Holdfast) in a
 * thread of its own. Nothing is downloaded at run time. The model is loaded with the first text.
 *
 * Texts over the window are refused with LIMIT_EXCEEDED, never cut; tokens are counted with the model's own tokenizer.
 *
 * @throws PACKAGE_MISSING, INVALID_ARGUMENT for options or a folder that cannot work
 */
export async function transformersEmbedder(options: TransformersOptions): Promise<Embedder> {
  const checked = checkOptions(options);
  // Looked for, not loaded: that is the thread's work.
  await importPackage(PACKAGE, async () => createRequire(import.meta.url).resolve(PACKAGE));
  const folder = await readModelFolder(checked.folder, checked.dtype);
  const model = await toModel(options, checked, folder);
  const settings: TransformersSettings = { ...checked, packageName: PACKAGE, folder: folder.path.split(sep).join("/") };
  return new ThreadedEmbedder(model, () => prepare(settings));
}

async function toModel(options: TransformersOptions, checked: Checked, folder: ModelFolder): Promise<LocalModel> {
  const { pooling, dtype, normalize } = checked;
  const { name = basename(folder.path), templates } = options;
  const dimensions = options.dimensions ?? folder.dimensions;
  const maxTokens = options.maxTokens ?? folder.window;
  assertWhole(dimensions, "dimensions", LIMITS.dimensionsMax, "the folder's config.json has no hidden_size");
  const window = folder.window ?? Number.MAX_SAFE_INTEGER;
  assertWhole(maxTokens, "maxTokens", window, "the folder does not say how many tokens the model takes");
  const revision = options.revision ?? (await contentRevision(folder));
  return {
    identity: {
      provider: "transformers.js",
      model: name,
      revision,
      normalization: normalize ? "unit" : "none",
      ...(templates && { templates }),
      options: { pooling, dtype },
    },
    dimensions,
    maxTokens,
    ...(templates && { templates }),
  };
}

async function prepare(settings: TransformersSettings): Promise<Prepared> {
  const count = await loadFolderTokens(settings.folder);
  const worker = new URL("./transformers-worker.js", import.meta.url);
  const queue = new EmbeddingQueue({
    start: (onGone) => startEmbeddingThread({ worker, settings, isNative: true }, onGone),
    // The engine uses every processor by itself.
    threads: 1,
    textsPerSliceMax: TEXTS_PER_SLICE_MAX,
    tokensPerSliceMax: TOKENS_PER_SLICE_MAX,
    queueBytesMax: QUEUE_BYTES_MAX,
    closeGraceMs: CLOSE_GRACE_MS,
  });
  return { count, queue };
}

type Checked = Pick<TransformersSettings, "folder" | "dtype" | "pooling" | "normalize">;

function checkOptions(options: TransformersOptions): Checked {
  assertOptions(options, OPTION_NAMES, "transformersEmbedder");
  const { model, pooling, normalize = true, dtype = "fp32", name, revision, templates } = options;
  if (typeof model !== "string" || model === "") throw invalid("model is the path of the model's folder.");
  if (pooling !== "mean" && pooling !== "cls" && pooling !== "last")
    throw invalid('pooling is "mean", "cls" or "last": the one that the model was trained with.');
  if (typeof normalize !== "boolean") throw invalid("normalize is true or false.");
  if (!isDtype(dtype)) throw invalid(`dtype is one of ${DTYPES.join(", ")}.`);
  for (const [field, value] of Object.entries({ name, revision }))
    if (value !== undefined && (typeof value !== "string" || value === "")) throw invalid(`${field} is a text.`);
  if (templates !== undefined) assertTemplates(templates);
  return { folder: resolve(model), dtype, pooling, normalize };
}

function assertWhole(value: unknown, name: string, to: number, why: string): asserts value is number {
  if (value === undefined) throw invalid(`Give ${name}: ${why}.`);
  if (Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= to) return;
  throw invalid(`${name} is a whole number from 1 to ${to}.`);
}

function invalid(message: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", message);
}
