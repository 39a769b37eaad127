const ESCAPED = /[^a-z0-9\u0080-\uffff]/g;

/**
 * Writes tokens so that FTS5 sees exactly them, parted by spaces: its `ascii` tokenizer with `_` as a token
 * character keeps letters, digits and everything beyond ASCII, so that each other unit becomes `_` and two
 * hexadecimal digits. Different tokens stay different; empty ones are left out.
 */
export function toTokenString(tokens: readonly string[]): string {
  return tokens
    .filter((token) => token !== "")
    .map(escapeToken)
    .join(" ");
}

export function tokensOf(tokenString: string): readonly string[] {
  return tokenString === "" ? [] : tokenString.split(" ");
}

/** The term of an escaped token in one tenant's part of the index: base 36 has no `_`, so that none meets another's. */
export function toTerm(tenant: number, escaped: string): string {
  return `${tenant.toString(36)}_${escaped}`;
}

function escapeToken(token: string): string {
  return token.replace(ESCAPED, (unit) => `_${unit.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
