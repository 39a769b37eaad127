import { describe, expect, it } from "vitest";
import { contextOf, renderContext } from "../../../src/memory/prompt-context.ts";
import { openMemoryBed } from "./memories.ts";

const LINES = [
  "Good morning!",
  "Where will you live?",
  "I moved to Lisbon.",
  "That is far away.",
  "Let us talk of tea.",
  "Tea is warm.",
  "The weather is fine.",
  "I miss Lisbon when I travel.",
];

async function asked(context?: number) {
  const { memory } = await openMemoryBed();
  const session = await memory.createSession("chat", { user: "alice" });
  for (const [index, text] of LINES.entries())
    await session.remember({
      id: `m${index}`,
      text,
      producer: index % 2 === 0 ? "alice" : "bob",
      at: `2026-05-0${1 + Math.floor(index / 4)}T12:0${index}:00Z`,
    });
  return memory.recall("Lisbon", { channels: ["text"], ...(context !== undefined && { context }) });
}

describe("the context of a recall", () => {
  it("[S5] is told in the order of time with producers, days and gaps", async () => {
    // ICU's versions differ in the comma.
    expect(renderContext(await asked()).replaceAll("day,", "day")).toBe(
      [
        "Session chat (alice)",
        "Friday 1 May 2026:",
        "12:01 bob: Where will you live?",
        "12:02 alice: I moved to Lisbon.",
        "12:03 bob: That is far away.",
        "…",
        "Saturday 2 May 2026:",
        "12:06 alice: The weather is fine.",
        "12:07 bob: I miss Lisbon when I travel.",
      ].join("\n"),
    );
  });

  it("[S5] runs that meet are one, and each event is there once", async () => {
    const answer = await asked(3);
    const { sessions } = contextOf(answer);
    expect(sessions.map(({ runs }) => runs.map((run) => run.map(({ event }) => event)))).toEqual([
      [["m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"]],
    ]);
    expect(sessions[0]?.runs[0]?.filter(({ score }) => score !== undefined).map(({ event }) => event)).toEqual([
      "m2",
      "m7",
    ]);
    expect(renderContext(answer)).not.toContain("…");
  });

  it("[S5] keeps the best hits within a budget of characters or tokens, whole events alone", async () => {
    const answer = await asked();
    const best = answer.hits[0]?.text ?? "";
    for (const maxCharacters of [0, 20, 70, 100, 150, 200, 1_000]) {
      const text = renderContext(answer, { maxCharacters });
      expect(text.length).toBeLessThanOrEqual(maxCharacters);
      if (maxCharacters >= 100) expect(text).toContain(best);
      for (const line of text.split("\n").filter((each) => /^\d/.test(each) && !each.endsWith("…")))
        expect(LINES).toContain(line.replace(/^\S+ \w+: /, ""));
    }
    const countTokens = (text: string) => text.split(/\s+/).length;
    expect(countTokens(renderContext(answer, { maxTokens: 20, countTokens }))).toBeLessThanOrEqual(20);
    expect(() => renderContext(answer, { maxTokens: 20 })).toThrow(/countTokens/);
    expect(() => renderContext(answer, { maxCharacters: Number.NaN })).toThrow(/maxCharacters/);
  });

  it("[S5] writes times in a locale and a zone", async () => {
    const text = renderContext(await asked(0), { locale: "de-DE", timeZone: "Asia/Tokyo" });
    expect(text).toContain("Freitag, 1. Mai 2026:\n21:02 alice: I moved to Lisbon.");
    const answer = await asked(0);
    expect(() => renderContext(answer, { timeZone: "Mars/Olympus" })).toThrow(/timeZone/);
  });

  it("[S5] of nothing is nothing", () => {
    expect(renderContext({ hits: [] })).toBe("");
    expect(contextOf({ hits: [] })).toEqual({ sessions: [] });
  });

  it("[S5] cuts the best hit between graphemes where it alone is over the budget", async () => {
    const { hits } = await asked(0);
    const family = "👨‍👩‍👧‍👦";
    const long = (text: string) => ({ hits: hits.slice(0, 1).map((hit) => ({ ...hit, text })) });
    const shown = (text: string, maxCharacters: number) =>
      renderContext(long(text), { maxCharacters }).split(": ").at(-1) ?? "";
    const head = renderContext(long("x")).length - 1;
    expect(shown("one two three", head + 9)).toBe("one two…");
    expect(shown("one two three", head + 13)).toBe("one two three");
    expect(shown(family.repeat(5), head + 2 * family.length + 4)).toBe(`${family.repeat(2)}…`);
    expect(shown("e\u0301e\u0301e\u0301", head + 4)).toBe("e\u0301…");
    expect(renderContext(long("one two"), { maxCharacters: head })).toBe("");
    const countTokens = (text: string) => text.length;
    expect(renderContext(long("one two three"), { maxTokens: head + 9, countTokens })).toContain(": one two…");
  });

  it("[S5] passes over what is too large for the rest of the budget, and many hits take few counts", async () => {
    const [hit] = (await asked(0)).hits;
    if (hit === undefined) throw new Error("no hit");
    const hits = Array.from({ length: 5_000 }, (_, index) => ({
      ...hit,
      event: `e${index}`,
      at: new Date(index * 60_000).toISOString(),
      text: index % 100 === 3 ? "large ".repeat(500) : `hit ${index}.`,
    }));
    let counted = 0;
    const countTokens = (text: string) => {
      counted += 1;
      return text.length;
    };
    const text = renderContext({ hits }, { maxTokens: 2_000, countTokens });
    expect(text).toContain("hit 2.");
    expect(text).toContain("hit 4.");
    expect(text).not.toContain("large");
    expect(text.length).toBeGreaterThan(1_900);
    expect(counted).toBeLessThan(1_000);
  });

  it("[S5] lines of one text cannot pass for events of others", async () => {
    const [hit] = (await asked(0)).hits;
    if (hit === undefined) throw new Error("no hit");
    const text = renderContext({
      hits: [{ ...hit, producer: "bob\nSession x", text: "one\n12:00 carol: two\u2028three" }],
    });
    expect(text.split("\n").slice(-3)).toEqual(["12:02 bob Session x: one", "  12:00 carol: two", "  three"]);
  });

  it("[S5] refuses options that it does not have and counters that do not count", async () => {
    const answer = await asked(0);
    for (const options of [
      { maxChars: 5 },
      { maxTokens: 5, countTokens: "x" },
      { maxTokens: 5, countTokens: () => "9" },
    ])
      expect(() => renderContext(answer, options as never)).toThrow(
        expect.objectContaining({ code: "INVALID_ARGUMENT" }),
      );
  });
});
