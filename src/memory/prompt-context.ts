import { HoldfastError } from "../errors/index.ts";
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

/**
 * What a recall found as text for a prompt: by session, in the order of time, with the times and producers, `…` where
 * something is left out. Within a budget the best hits come first, then what stands around them; an event is whole or not there.
 *
 * @throws INVALID_ARGUMENT for a budget of tokens without a counter, an unknown locale or time zone
 */
export function renderContext(answer: Pick<RecallAnswer, "hits">, options: RenderOptions = {}): string {
  const format = new ContextFormat(options);
  const fits = budgetOf(options);
  const kept: RecallHit[] = [];
  const around = new Set<string>();
  for (const hit of answer.hits) {
    kept.push(hit);
    if (!fits(format.render(arrange(kept, around)))) kept.pop();
  }
  for (const hit of kept) {
    for (const { event } of neighboursOf(hit)) {
      if (around.has(event)) continue;
      around.add(event);
      if (!fits(format.render(arrange(kept, around)))) around.delete(event);
    }
  }
  return format.render(arrange(kept, around));
}

function budgetOf({ maxCharacters, maxTokens, countTokens }: RenderOptions): (text: string) => boolean {
  if (maxTokens !== undefined && countTokens === undefined)
    throw invalid("A budget of maxTokens needs countTokens: the tokens of the model that reads the text.");
  for (const [name, value] of [
    ["maxCharacters", maxCharacters],
    ["maxTokens", maxTokens],
  ] as const)
    if (value !== undefined && !(Number.isFinite(value) && value >= 0)) throw invalid(`${name} is a number from 0.`);
  return (text) =>
    (maxCharacters === undefined || text.length <= maxCharacters) &&
    (maxTokens === undefined || countTokens === undefined || countTokens(text) <= maxTokens);
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
  return { sessions: arranged.sort((a, b) => (firstOf(a) < firstOf(b) ? -1 : 1)) };
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
    const lines = [user === undefined ? `Session ${session}` : `Session ${session} (${user})`];
    let day: string | undefined;
    for (const [index, run] of runs.entries()) {
      if (index > 0) lines.push(GAP);
      for (const event of run) {
        const at = new Date(event.at);
        const today = this.#day.format(at);
        if (today !== day) lines.push(`${today}:`);
        day = today;
        lines.push(`${this.#time.format(at)} ${event.producer ?? event.role ?? "-"}: ${event.text}`);
      }
    }
    return lines.join("\n");
  }
}

function neighboursOf({ context }: RecallHit): readonly ContextEvent[] {
  return [...context.before, ...context.after];
}

function eventOf({ event, at, producer, role, text }: RecallHit): ContextEvent {
  return { event, at, ...(producer !== undefined && { producer }), ...(role !== undefined && { role }), text };
}

/** Times of one form compare as texts; of one time, the order in which they were answered stays. */
function byTime(a: Line, b: Line): number {
  if (a.at !== b.at) return a.at < b.at ? -1 : 1;
  if (a.follows.has(b.event)) return 1;
  return b.follows.has(a.event) ? -1 : 0;
}

function firstOf({ runs }: RecalledSession): string {
  return runs[0]?.[0]?.at ?? "";
}

function invalid(message: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", message);
}
