import { HoldfastError } from "../errors/index.ts";

const SPACE = /[ \t\r\n]*/y;
const WORD = /[\p{L}\p{Nd}_]+/uy;

/**
 * Reads tokens of a filter text. There is no list of tokens made beforehand: what a character means depends on
 * where it stands. Patterns are sticky; methods called `adjacent…` allow no blank before the token.
 */
export class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  atEnd(): boolean {
    this.#skipSpace();
    return this.#at === this.#text.length;
  }

  position(): number {
    this.#skipSpace();
    return this.#at;
  }

  /** Takes what `pattern` matches here. */
  token(pattern: RegExp): string | undefined {
    const found = this.peek(pattern);
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  peek(pattern: RegExp): string | undefined {
    this.#skipSpace();
    return this.adjacentPeek(pattern);
  }

  adjacentPeek(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0];
  }

  /** Takes one character of punctuation. */
  symbol(symbol: string): boolean {
    this.#skipSpace();
    return this.adjacent(symbol);
  }

  adjacent(symbol: string): boolean {
    if (!this.#text.startsWith(symbol, this.#at)) return false;
    this.#at += symbol.length;
    return true;
  }

  /** Takes a whole word, in any case. */
  keyword(keyword: string): boolean {
    if (!this.peekKeyword(keyword)) return false;
    this.#at += keyword.length;
    return true;
  }

  peekKeyword(keyword: string): boolean {
    const word = this.peek(WORD);
    // The length too: some letters become two when they change case.
    return word !== undefined && word.length === keyword.length && word.toUpperCase() === keyword;
  }

  /** Takes a text between quotes, in which the doubled quote is one quote. */
  quoted(quote: "'" | '"'): string | undefined {
    this.#skipSpace();
    return this.adjacentQuoted(quote);
  }

  adjacentQuoted(quote: "'" | '"'): string | undefined {
    if (this.#text[this.#at] !== quote) return undefined;
    const opened = this.#at;
    let end = this.#text.indexOf(quote, opened + 1);
    while (end !== -1 && this.#text[end + 1] === quote) end = this.#text.indexOf(quote, end + 2);
    if (end === -1) throw this.error("the quote that opens here is not closed", [`the closing ${quote}`], opened);
    this.#at = end + 1;
    return this.#text.slice(opened + 1, end).replaceAll(quote + quote, quote);
  }

  expected(...expected: readonly string[]): HoldfastError<"FILTER_SYNTAX"> {
    this.#skipSpace();
    return this.expectedHere(...expected);
  }

  /** The same where no blank may stand before the token. */
  expectedHere(...expected: readonly string[]): HoldfastError<"FILTER_SYNTAX"> {
    const at = this.#at;
    const found = at === this.#text.length ? "the filter ends here" : "something else stands here";
    return this.error(`expected ${list(expected)}, but ${found}`, expected, at);
  }

  /** Says where and what; never repeats the text, which can be private (O4). */
  error(
    problem: string,
    expected: readonly string[],
    position: number = this.position(),
  ): HoldfastError<"FILTER_SYNTAX"> {
    return new HoldfastError("FILTER_SYNTAX", `The filter cannot be read at position ${position}: ${problem}.`, {
      details: { position, expected },
    });
  }

  #skipSpace(): void {
    SPACE.lastIndex = this.#at;
    this.#at += SPACE.exec(this.#text)?.[0].length ?? 0;
  }
}

function list(items: readonly string[]): string {
  const last = items.at(-1) ?? "something else";
  return items.length < 2 ? last : `${items.slice(0, -1).join(", ")} or ${last}`;
}
