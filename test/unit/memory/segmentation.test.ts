import { describe, expect, it } from "vitest";
import type { Segmentation, Segmenter } from "../../../src/memory/segmentation.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { isGraphemeBoundary, textUnits } from "../../../src/segments/text-units.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { openMemoryBed } from "./memories.ts";

const TEXT = "First one. Second one!\n\nA paragraph of its own. And more?\n\n\n  The end";

async function segmentsOf(segmenter: Segmentation | undefined, text: string, maxTokens?: number) {
  const embedder = createHashEmbedder(maxTokens === undefined ? {} : { maxTokens });
  const { memory, raw } = await openMemoryBed({ embedder, ...(segmenter && { segmenter }) });
  const session = await memory.createSession("a");
  await session.remember({ id: "e", text });
  const ranges = raw.prepare('SELECT start, "end" FROM segments ORDER BY segment').all();
  return { segments: ranges.map(({ start, end }) => text.slice(Number(start), Number(end))), embedder, memory };
}

describe("segmenters", () => {
  it("[S3] whole, which is the default, keeps a text in one piece", async () => {
    expect((await segmentsOf(undefined, TEXT)).segments).toEqual([TEXT]);
    expect((await segmentsOf("whole", TEXT)).segments).toEqual([TEXT]);
  });

  it("[S3] paragraphs and sentences are segments of their own, and nothing but white space is left out", async () => {
    expect((await segmentsOf("paragraphs", TEXT)).segments).toEqual([
      "First one. Second one!",
      "A paragraph of its own. And more?",
      "The end",
    ]);
    const { segments, embedder, memory } = await segmentsOf("sentences", TEXT);
    expect(segments).toEqual(["First one.", "Second one!", "A paragraph of its own.", "And more?", "The end"]);
    expect(embedder.calls.flat()).toEqual(segments);
    expect((await memory.recall("paragraph own", { limit: 1 })).hits[0]?.text).toBe("A paragraph of its own.");
  });

  it("[S3] what is longer than the window is cut further, whoever gave it", async () => {
    const own: Segmenter = { name: "halves", segment: (text) => [{ start: 0, end: text.length }] };
    for (const segmenter of ["whole", "paragraphs", "sentences", own] as const) {
      const text = `${"word ".repeat(30).trim()}. Short.`;
      const { segments, embedder } = await segmentsOf(segmenter, text, 8);
      expect(segments.length).toBeGreaterThan(3);
      expect(segments.join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
      for (const sent of embedder.calls.flat()) expect(embedder.countTokens(sent)).toBeLessThanOrEqual(8);
    }
  });

  it("[S3] sentences of a long text without any end are found in parts, and every one of them", async () => {
    const sentence = `X${"x".repeat(5_000)} y. `;
    expect((await textUnits(sentence.repeat(3), "sentence")).length).toBe(3);
    const many = Array.from({ length: 500 }, (_, index) => `Number ${index} is here.`);
    const text = many.join(" ");
    expect((await textUnits(text, "sentence")).map(({ start, end }) => text.slice(start, end))).toEqual(many);
  });

  it("[S3] a place inside a grapheme is no boundary", () => {
    const text = "a👨‍👩‍👧e\u0301";
    const places = Array.from({ length: text.length + 1 }, (_, at) => at).filter((at) =>
      isGraphemeBoundary(text, at, 0),
    );
    expect(places).toEqual([0, 1, 9, 11]);
  });

  const faults: readonly (readonly [string, unknown])[] = [
    ["answers no list", undefined],
    ["answers a range behind the text", [{ start: 0, end: 9_999 }]],
    ["answers fractions", [{ start: 0, end: 1.5 }]],
    [
      "answers ranges out of order",
      [
        { start: 6, end: 11 },
        { start: 0, end: 5 },
      ],
    ],
    [
      "answers ranges that overlap",
      [
        { start: 0, end: 8 },
        { start: 5, end: 11 },
      ],
    ],
    [
      "answers an empty range",
      [
        { start: 0, end: 0 },
        { start: 0, end: 11 },
      ],
    ],
    [
      "answers white space",
      [
        { start: 0, end: 5 },
        { start: 5, end: 6 },
        { start: 6, end: 11 },
      ],
    ],
    ["leaves out the beginning", [{ start: 1, end: 11 }]],
    [
      "leaves out a middle",
      [
        { start: 0, end: 4 },
        { start: 5, end: 11 },
      ],
    ],
    ["leaves out the end", [{ start: 0, end: 10 }]],
    [
      "cuts a grapheme",
      [
        { start: 0, end: 9 },
        { start: 9, end: 11 },
      ],
    ],
  ];

  it.each(faults)("[S3] one that %s is refused, and nothing is embedded or written", async (_, ranges) => {
    const segmenter: Segmenter = { name: "own", segment: () => ranges as [] };
    const { memory, count, embedder } = await openMemoryBed({ segmenter });
    const session = await memory.createSession("a");
    await expect(session.remember({ text: "hello th👍🏽!" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      details: { segmenter: "own" },
    });
    expect([count("events"), embedder.textsEmbedded]).toEqual([0, 0]);
  });

  it("[S3] one that raises is named, with its error as the cause", async () => {
    const cause = new Error("its own");
    const segmenter: Segmenter = { name: "own", segment: () => Promise.reject(cause) };
    const { memory } = await openMemoryBed({ segmenter });
    const session = await memory.createSession("a");
    await expect(session.remember({ text: "hello" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT", cause });
  });

  it("[S3] stats tell every way in which a folder was written", async () => {
    const first = await openMemoryBed();
    expect((await first.memory.stats()).pipelines).toEqual([]);
    const session = await first.memory.createSession("a");
    await session.rememberMany([{ text: "one" }, { text: "two" }]);
    const own: Segmenter = { name: "own-1", segment: (text) => [{ start: 0, end: text.length }] };
    const second = await openMemoryBed({ path: first.path, segmenter: own, derive: ({ text }) => [text] });
    await (await second.memory.session("a")).remember({ text: "three" });
    expect((await second.memory.stats()).pipelines).toEqual([
      { segmenter: "whole", derive: "segment" },
      { segmenter: "own-1", derive: "own" },
    ]);
  });

  it("[S3] options of another form are refused when the memory is opened", async () => {
    const embedder = createHashEmbedder();
    for (const wrong of ["lines", {}, { name: "whole", segment: () => [] }, { name: "a b", segment: () => [] }, null]) {
      const options = { inMemory: true, embedder, segmenter: wrong as "whole" } as const;
      await expect(openMemory(options)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    for (const wrong of ["words", 1, null])
      await expect(openMemory({ inMemory: true, embedder, derive: wrong as "segment" })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
  });
});
