import { tokeniseWords } from "./words.ts";

/**
 * English words that join others and name nothing. Left out: `may` and `will`, which are also a month and a name.
 * Texts are indexed with them; only questions are asked without.
 */
const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  tokeniseWords(`
    a an the this that these those some any each such
    i you he she it we they me him her us them my your his its our their mine yours hers ours theirs
    myself yourself himself herself itself ourselves themselves
    who whom whose what which when where why how
    am is are was were be been being do does did doing done have has had having
    can could should would shall might must
    and or but nor so than then as if because while though
    at by for from in into of off on onto out over to under up upon with within without about after before between
    during through since until against
    not no there here also just too very only own same other both more most`),
);

/**
 * The words of a question that tell something, as the index knows them; all of them where none does ("The Who").
 * BM25's weight for common words does not do it alone: in a tenant of a few thousand short texts, "what", "did" and
 * "her" together outweigh a name. On LoCoMo's questions evidence recall@10 of words alone is .578 with them,
 * .622 without (scripts/eval-locomo.js).
 */
export function questionWords(question: string): readonly string[] {
  const words = tokeniseWords(question);
  const telling = words.filter((word) => !FUNCTION_WORDS.has(word));
  return telling.length > 0 ? telling : words;
}
