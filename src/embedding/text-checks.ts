import { HoldfastError, isHoldfastError } from "../errors/index.ts";
import { yieldToEventLoop } from "../io/clock.ts";
import { assertNotAborted } from "./abort.ts";
import { countTokens } from "./count-tokens.ts";
import type { TextReader } from "./embedder.ts";

/** Characters counted between two yields: a tokenizer in JavaScript takes about 0.5 µs a character (E7). */
const CHARACTERS_PER_SLICE = 16_384;

/** What is checked of one text: its tokens where the embedder counts them, or why it cannot be embedded. */
export type TextCheck = { readonly tokens: number | undefined } | { readonly error: HoldfastError };

/**
 * Checks one text before anything is paid for (V14): not empty, no lone surrogate, within the model's window.
 * Errors name the position and never the text (O4).
 */
export function checkText(embedder: TextReader, text: unknown, position: number): TextCheck {
  if (typeof text !== "string") return refuse("INVALID_ARGUMENT", position, "is not a string");
  if (text.trim() === "") return refuse("INVALID_TEXT", position, "is empty; leave it out");
  if (/\p{Surrogate}/u.test(text))
    return refuse("INVALID_TEXT", position, "holds a lone surrogate; it is not valid Unicode");
  let tokens: number | undefined;
  try {
    tokens = countTokens(embedder, text);
  } catch (error) {
    // A counter that fails for one text says nothing about the others.
    if (isHoldfastError(error, "EMBEDDING_FAILED")) return { error };
    throw error;
  }
  if (tokens === 0)
    return refuse("INVALID_TEXT", position, "holds nothing that the embedding model can read; leave it out");
  if (tokens !== undefined && embedder.maxTokens !== undefined && tokens > embedder.maxTokens) {
    const rule = `has ${tokens} tokens and the embedding model takes ${embedder.maxTokens}; split it`;
    return refuse("LIMIT_EXCEEDED", position, rule, { tokens, tokensMax: embedder.maxTokens });
  }
  return { tokens };
}

/** Checks many texts in slices, so that the calling thread stays free; one answer a text. */
export async function checkTexts(
  embedder: TextReader,
  texts: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly TextCheck[]> {
  const checks: TextCheck[] = [];
  let characters = 0;
  for (const [position, text] of texts.entries()) {
    checks.push(checkText(embedder, text, position));
    characters += typeof text === "string" ? text.length : 0;
    if (characters < CHARACTERS_PER_SLICE) continue;
    characters = 0;
    await yieldToEventLoop();
    assertNotAborted(signal);
  }
  return checks;
}

function refuse(
  code: "INVALID_ARGUMENT" | "INVALID_TEXT" | "LIMIT_EXCEEDED",
  position: number,
  rule: string,
  details: Readonly<Record<string, number>> = {},
): TextCheck {
  return {
    error: new HoldfastError(code, `The text at position ${position} ${rule}.`, {
      details: { position, ...details },
      operation: "embed",
    }),
  };
}
