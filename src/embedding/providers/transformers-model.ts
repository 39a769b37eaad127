import { createHash } from "node:crypto";
// tidy: reads a model's folder, never a database's
import { createReadStream } from "node:fs";
// tidy: reads a model's folder, never a database's
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { HoldfastError } from "../../errors/index.ts";
import { importPackage } from "./packages.ts";
import type { TokenCounter } from "./threaded-embedder.ts";

/** How the weights are stored, and what the end of their file's name is. */
const WEIGHTS = {
  fp32: "model",
  fp16: "model_fp16",
  q8: "model_quantized",
  int8: "model_int8",
  uint8: "model_uint8",
  q4: "model_q4",
  q4f16: "model_q4f16",
  bnb4: "model_bnb4",
} as const;

/** Precision of the weights, as transformers.js names it. */
export type TransformersDtype = keyof typeof WEIGHTS;

/** A folder in the layout of transformers.js. */
export interface ModelFolder {
  readonly path: string;
  /** Of the model's answers, where its configuration says it. */
  readonly dimensions: number | undefined;
  /** Tokens that the model takes, where its configuration says it. */
  readonly window: number | undefined;
  /** Files that decide what a text's vector is. */
  readonly files: readonly string[];
}

const TOKENIZER = "tokenizer.json";
const TOKENIZER_CONFIG = "tokenizer_config.json";
const CONFIG = "config.json";

/** A tokenizer without a limit says 10^30. */
const WINDOW_MAX = 1_000_000;

const HASH_CHUNK_BYTES = 1024 * 1024;
const REVISION_HEX_DIGITS = 16;

export function isDtype(value: unknown): value is TransformersDtype {
  return typeof value === "string" && Object.hasOwn(WEIGHTS, value);
}

export const DTYPES: readonly string[] = Object.keys(WEIGHTS);

/** @throws INVALID_ARGUMENT when the folder is not there or lacks a file */
export async function readModelFolder(path: string, dtype: TransformersDtype): Promise<ModelFolder> {
  const config = await readJson(path, CONFIG);
  const tokenizer = await readJson(path, TOKENIZER_CONFIG);
  const weights = await weightsOf(path, dtype);
  const limits = [tokenizer.model_max_length, config.max_position_embeddings].map(Number).filter(isWindow);
  return {
    path,
    dimensions: Number.isSafeInteger(config.hidden_size) ? Number(config.hidden_size) : undefined,
    window: limits.length === 0 ? undefined : Math.min(...limits),
    files: [...weights, TOKENIZER, TOKENIZER_CONFIG],
  };
}

function isWindow(limit: number): boolean {
  return Number.isSafeInteger(limit) && limit > 0 && limit <= WINDOW_MAX;
}

/** Names the content of the files that decide the vectors: another one for other weights, the same in any place. */
export async function contentRevision({ path, files }: ModelFolder): Promise<string> {
  const hash = createHash("sha256");
  for (const name of files) {
    hash.update(`${name}\0`);
    try {
      for await (const chunk of createReadStream(join(path, name), { highWaterMark: HASH_CHUNK_BYTES }))
        hash.update(chunk as Buffer);
    } catch (cause) {
      throw unreadable(path, name, cause);
    }
  }
  return `sha256:${hash.digest("hex").slice(0, REVISION_HEX_DIGITS)}`;
}

/**
 * The model's tokenizer on this thread: a count must be at hand without a round trip to the thread that embeds.
 *
 * @throws PACKAGE_MISSING, INVALID_ARGUMENT when a file cannot be read
 */
export async function loadFolderTokens(path: string): Promise<TokenCounter> {
  const { Tokenizer } = await importPackage("@huggingface/tokenizers", () => import("@huggingface/tokenizers"));
  const definition = await readJson(path, TOKENIZER);
  const tokenizer = new Tokenizer(definition, await readJson(path, TOKENIZER_CONFIG));
  const specialTokens = tokenizer.encode("").ids.length;
  return (text) => {
    const count = tokenizer.encode(text).ids.length;
    return count <= specialTokens ? 0 : count;
  };
}

/** The weights of `dtype`, and the files beside them that hold what is too large for one. */
async function weightsOf(path: string, dtype: TransformersDtype): Promise<readonly string[]> {
  const names = await readdir(join(path, "onnx")).catch((cause: unknown) => {
    throw unreadable(path, "onnx", cause);
  });
  const file = `${WEIGHTS[dtype]}.onnx`;
  if (names.includes(file)) {
    const parts = names.filter((name) => name === file || name.startsWith(`${file}_data`));
    return parts.sort().map((name) => `onnx/${name}`);
  }
  const there = DTYPES.filter((other) => isDtype(other) && names.includes(`${WEIGHTS[other]}.onnx`));
  const choice = there.length === 0 ? "it has no weights" : `choose dtype ${there.join(" or ")}`;
  throw invalid(`The model's folder has no onnx/${file}, the weights of dtype ${dtype}; ${choice}.`, { file });
}

async function readJson(path: string, name: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const value: unknown = JSON.parse(await readFile(join(path, name), "utf8"));
    if (typeof value === "object" && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw unreadable(path, name, cause);
  }
  throw unreadable(path, name);
}

function unreadable(path: string, name: string, cause?: unknown): HoldfastError {
  const message = `The model's folder ${path} has no readable ${name}; give a folder in the layout of transformers.js.`;
  return invalid(message, { file: name }, cause);
}

function invalid(message: string, details: Readonly<Record<string, string>>, cause?: unknown): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", message, { details, ...(cause !== undefined && { cause }) });
}
