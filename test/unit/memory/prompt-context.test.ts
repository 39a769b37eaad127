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
      for (const line of text.split("\n").filter((each) => /^\d/.test(each)))
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
});
