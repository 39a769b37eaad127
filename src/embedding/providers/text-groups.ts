import { HoldfastError } from "../../errors/index.ts";

/** Texts around what is embedded; `{text}` stands for it. */
export interface TextTemplates {
  readonly document?: string;
  readonly query?: string;
}

const PLACE = "{text}";

export function applyTemplate(template: string | undefined, text: string): string {
  return template === undefined ? text : template.split(PLACE).join(text);
}

export function assertTemplates(templates: TextTemplates): void {
  for (const template of [templates.document, templates.query]) {
    if (template === undefined || (typeof template === "string" && template.includes(PLACE))) continue;
    throw new HoldfastError("INVALID_ARGUMENT", `A template holds ${PLACE}, such as "query: ${PLACE}".`);
  }
}

/** A counter of documents as they are sent, in their template. */
export function countAsSent(
  countTokens: (text: string) => number,
  templates: TextTemplates | undefined,
): (text: string) => number {
  if (typeof countTokens !== "function")
    throw new HoldfastError("INVALID_ARGUMENT", "countTokens is a function of a text that answers a count.");
  return (text) => countTokens(applyTemplate(templates?.document, text));
}

export interface GroupLimits {
  readonly textsPerCall: number;
  readonly tokensPerCall?: number | undefined;
  readonly countTokens?: ((text: string) => number) | undefined;
}

/** Texts in order, in groups of at most so many texts and tokens; a text above the tokens has a group of its own. */
export function inGroups(texts: readonly string[], limits: GroupLimits): readonly (readonly string[])[] {
  const { textsPerCall, tokensPerCall = Number.POSITIVE_INFINITY, countTokens } = limits;
  const groups: string[][] = [];
  let tokens = 0;
  for (const text of texts) {
    const own = countTokens?.(text) ?? 0;
    const last = groups.at(-1);
    if (last === undefined || last.length >= textsPerCall || tokens + own > tokensPerCall) {
      groups.push([text]);
      tokens = own;
    } else {
      last.push(text);
      tokens += own;
    }
  }
  return groups;
}
