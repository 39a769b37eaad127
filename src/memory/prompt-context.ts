import { assertOptions, type OptionNames } from "../contract/option-names.ts";
import { HoldfastError } from "../errors/index.ts";
import { Boundaries } from "../segments/boundaries.ts";
import type { ContextEvent, RecallAnswer, RecallHit } from "./contract.ts";

/** What a recall found and what stands around it, in the order in which it was said. */
export interface RecalledContext {
  /** By the time of their first event. */
  readonly sessions: readonly RecalledSession[];
}

export interface RecalledSession {
  readonly session: string;
  readonly user?: string;
  /** Events that follow one another; between two runs something may be missing. */
  readonly runs: readonly (readonly RecalledEvent[])[];
}

export interface RecalledEvent extends ContextEvent {
  /** The best score of its segments; absent for an event that is there as a neighbour alone. */
  readonly score?: number;
}

export interface RenderOptions {
  /** UTF-16 units at most. */
  readonly maxCharacters?: number;
  /** Tokens at most, as `countTokens` counts them. */
  readonly maxTokens?: number;
  /** Tokens of a text, such as those of the model that reads it. */
  readonly countTokens?: (text: string) => number;
  /** How times are written; default `en-GB`. */
  readonly locale?: string;
  /** An IANA zone such as `Europe/Lisbon`; default `UTC`. */
  readonly timeZone?: string;
}

const GAP = "…";

/** The structured form of what a recall found: sessions, runs of events, their scores. */
export function contextOf({ hits }: Pick<RecallAnswer, "hits">): RecalledContext {
  return arrange(hits, new Set(hits.flatMap((hit) => neighboursOf(hit).map(({ event }) => event))));
}

const RENDER_OPTIONS: OptionNames<RenderOptions> = {
  maxCharacters: true,
  maxTokens: true,
  countTokens: true,
  locale: true,
  timeZone: true,
};

/**
 * What a recall found as text for a prompt: by session, in the order of time, with the times and producers, `…` where
 * something is left out. Within a budget the best hits come first, then what stands around them. An event is whole or
 * not there; only the best hit is cut, between graphemes, where it alone is over the budget.
 *
 * @throws INVALID_ARGUMENT for a budget of tokens without a counter, an unknown locale, time zone or option
 */
export function renderContext(answer: Pick<RecallAnswer, "hits">, options: RenderOptions = {}): string {
  assertOptions(options, RENDER_OPTIONS, "renderContext");
  const format = new ContextFormat(options);
  const fits = budgetOf(options);
  const render = (hits: readonly RecallHit[], around: Iterable<string>): string =>
    format.render(arrange(hits, new Set(around)));
  const [best] = answer.hits;
  if (best === undefined) return "";
  if (!fits(render([best], []))) return cutToBudget(best, { render: (hit) => render([hit], []), fits });
  const kept = fill(answer.hits, (hits) => fits(render(hits, [])));
  const neighbours = [...new Set(kept.flatMap((hit) => neighboursOf(hit).map(({ event }) => event)))];
  return render(
    kept,
    fill(neighbours, (around) => fits(render(kept, around))),
  );
}

/** Items that alone are too large for what is left are passed over, but no more than so many. */
const PASSED_OVER_MAX = 32;

/** The items in their order, without those that would be over the budget. */
function fill<Item>(items: readonly Item[], fits: (kept: readonly Item[]) => boolean): readonly Item[] {
  const kept: Item[] = [];
  let rest = items;
  for (let passed = 0; rest.length > 0 && passed <= PASSED_OVER_MAX; passed += 1) {
    const count = longestPrefix(rest.length, (length) => fits([...kept, ...rest.slice(0, length)]));
    for (const item of rest.slice(0, count)) kept.push(item);
    rest = rest.slice(count + 1);
  }
  return kept;
}

/** The largest length up to `max` that fits, 0 where none does; no length far above it is tried. */
function longestPrefix(max: number, fits: (length: number) => boolean): number {
  let [fitting, tooLong] = [0, 1];
  while (tooLong <= max && fits(tooLong)) {
    fitting = tooLong;
    tooLong = Math.min(tooLong * 2, Math.max(max, tooLong + 1));
  }
  tooLong = Math.min(tooLong, max + 1);
  while (tooLong - fitting > 1) {
    const middle = (fitting + tooLong) >> 1;
    if (fits(middle)) fitting = middle;
    else tooLong = middle;
  }
  return fitting;
}

/** The beginning of a hit, up to the end of a word or, where not one fits, of a grapheme. */
function cutToBudget(
  hit: RecallHit,
  { render, fits }: { readonly render: (hit: RecallHit) => string; readonly fits: (text: string) => boolean },
): string {
  const { text } = hit;
  const boundaries = new Boundaries(text, 0, text.length);
  for (const level of ["word", "grapheme"] as const) {
    const cut = (length: number): string => {
      const beginning = text.slice(0, boundaries.atOrBefore(level, length)).trimEnd();
      return beginning === "" ? "" : render({ ...hit, text: `${beginning}${GAP}` });
    };
    const shown = cut(longestPrefix(text.length - 1, (length) => fits(cut(length))));
    if (shown !== "") return shown;
  }
  return "";
}

function budgetOf({ maxCharacters, maxTokens, countTokens }: RenderOptions): (text: string) => boolean {
  if (maxTokens !== undefined && typeof countTokens !== "function")
    throw invalid("A budget of maxTokens needs countTokens: the tokens of the model that reads the text.");
  for (const [name, value] of [
    ["maxCharacters", maxCharacters],
    ["maxTokens", maxTokens],
  ] as const)
    if (value !== undefined && !(Number.isFinite(value) && value >= 0)) throw invalid(`${name} is a number from 0.`);
  return (text) =>
    (maxCharacters === undefined || text.length <= maxCharacters) &&
    (maxTokens === undefined || countTokens === undefined || toTokens(countTokens(text)) <= maxTokens);
}

function toTokens(count: unknown): number {
  if (typeof count === "number" && count >= 0) return count;
  throw invalid("countTokens answers a number from 0.");
}

interface Line extends RecalledEvent {
  /** Parts of a long event by where they stand in it. */
  readonly parts: ReadonlyMap<number, string>;
  /** Whether the event before it in its session is the line before it. */
  readonly follows: ReadonlySet<string>;
}

/** Hits and the neighbours among `around`, each event once, by session and time. */
function arrange(hits: readonly RecallHit[], around: ReadonlySet<string>): RecalledContext {
  const sessions = new Map<string, { readonly user: string | undefined; readonly lines: Map<string, Line> }>();
  for (const hit of hits) {
    const session = sessions.get(hit.session) ?? { user: hit.user, lines: new Map<string, Line>() };
    sessions.set(hit.session, session);
    const run = [...hit.context.before, eventOf(hit), ...hit.context.after];
    for (const [index, event] of run.entries()) {
      const isHit = event.event === hit.event;
      if (!isHit && !around.has(event.event)) continue;
      add(session.lines, event, { hit: isHit ? hit : undefined, before: run[index - 1]?.event });
    }
  }
  const arranged = [...sessions].map(([session, { user, lines }]) => ({
    session,
    ...(user !== undefined && { user }),
    runs: toRuns([...lines.values()].sort(byTime)),
  }));
  return { sessions: arranged.sort((a, b) => compare(firstOf(a), firstOf(b))) };
}

function add(
  lines: Map<string, Line>,
  event: ContextEvent,
  { hit, before }: { readonly hit: RecallHit | undefined; readonly before: string | undefined },
): void {
  const known = lines.get(event.event);
  const parts = new Map(known?.parts);
  if (hit !== undefined) parts.set(hit.range.start, hit.text);
  const scores = [known?.score, hit?.score].filter((score) => score !== undefined);
  lines.set(event.event, {
    ...event,
    text: known?.text ?? event.text,
    parts,
    follows: new Set([...(known?.follows ?? []), ...(before === undefined ? [] : [before])]),
    ...(scores.length > 0 && { score: Math.max(...scores) }),
  });
}

function toRuns(lines: readonly Line[]): readonly (readonly RecalledEvent[])[] {
  const runs: RecalledEvent[][] = [];
  let last: Line | undefined;
  for (const line of lines) {
    const { parts, follows, ...event } = line;
    const texts = [...parts].sort(([a], [b]) => a - b).map(([, text]) => text);
    const shown = { ...event, text: texts.length === 0 ? event.text : texts.join(` ${GAP} `) };
    if (last !== undefined && follows.has(last.event)) runs.at(-1)?.push(shown);
    else runs.push([shown]);
    last = line;
  }
  return runs;
}

class ContextFormat {
  readonly #day: Intl.DateTimeFormat;
  readonly #time: Intl.DateTimeFormat;

  constructor({ locale = "en-GB", timeZone = "UTC" }: RenderOptions) {
    try {
      this.#day = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeZone });
      this.#time = new Intl.DateTimeFormat(locale, { timeStyle: "short", timeZone });
    } catch (cause) {
      throw new HoldfastError(
        "INVALID_ARGUMENT",
        "locale is a language tag such as en-GB, timeZone a zone such as UTC.",
        {
          cause,
        },
      );
    }
  }

  render({ sessions }: RecalledContext): string {
    return sessions.map((session) => this.#session(session)).join("\n\n");
  }

  #session({ session, user, runs }: RecalledSession): string {
    const lines = [inOneLine(user === undefined ? `Session ${session}` : `Session ${session} (${user})`)];
    let day: string | undefined;
    for (const [index, run] of runs.entries()) {
      if (index > 0) lines.push(GAP);
      for (const event of run) {
        const at = new Date(event.at);
        const today = this.#day.format(at);
        if (today !== day) lines.push(`${today}:`);
        day = today;
        const who = inOneLine(event.producer ?? event.role ?? "-");
        lines.push(`${this.#time.format(at)} ${who}: ${indented(event.text)}`);
      }
    }
    return lines.join("\n");
  }
}

const LINE_BREAKS = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

/** A text of several lines cannot pass for several events. */
function indented(text: string): string {
  return text.replace(LINE_BREAKS, "\n  ");
}

function inOneLine(text: string): string {
  return text.replace(LINE_BREAKS, " ");
}

function neighboursOf({ context }: RecallHit): readonly ContextEvent[] {
  return [...context.before, ...context.after];
}

function eventOf({ event, at, producer, role, text }: RecallHit): ContextEvent {
  return { event, at, ...(producer !== undefined && { producer }), ...(role !== undefined && { role }), text };
}

/** Times of one form compare as texts; of one time, the order in which they were answered stays. */
function byTime(a: Line, b: Line): number {
  if (a.at !== b.at) return compare(a.at, b.at);
  if (a.follows.has(b.event)) return 1;
  return b.follows.has(a.event) ? -1 : 0;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function firstOf({ runs }: RecalledSession): string {
  return runs[0]?.[0]?.at ?? "";
}

function invalid(message: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", message);
}
