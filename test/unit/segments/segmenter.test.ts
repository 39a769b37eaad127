import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Segment, segmentText } from "../../../src/segments/segmenter.ts";

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Like a real counter: two tokens around the text, and words of any length in pieces of four units. */
function countPieces(text: string): number {
  return 2 + (text.match(/\S{1,4}/g)?.length ?? 0);
}

function graphemeStarts(text: string): ReadonlySet<number> {
  return new Set([...Array.from(graphemes.segment(text), ({ index }) => index), text.length]);
}

function texts(text: string, maxTokens: number, countTokens = countPieces): readonly string[] {
  return segmentText(text, { maxTokens, countTokens }).map((segment) => segment.text);
}

/** Ordered, disjoint, within the window, equal to their ranges, and nothing but white space left out. */
function expectSound(text: string, segments: readonly Segment[], fits: (text: string) => boolean): void {
  let at = 0;
  for (const segment of segments) {
    expect(segment.start).toBeGreaterThanOrEqual(at);
    expect(segment.text).toBe(text.slice(segment.start, segment.end));
    expect(segment.text.trim()).not.toBe("");
    expect(text.slice(at, segment.start).trim()).toBe("");
    expect(fits(segment.text)).toBe(true);
    at = segment.end;
  }
  expect(text.slice(at).trim()).toBe("");
}

const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "word",
        " ",
        "\n",
        "\n\n",
        "\r\n\r\n",
        ". ",
        "! ",
        "\u0301",
        "\u200d",
        "\u0600",
        "👩‍👩‍👧‍👦",
        "🇩🇪",
        "🇩",
      ),
      fc.constantFrom(
        "ก็",
        "กำ",
        "한",
        "각",
        "क्षि",
        "東京都に",
        "\u00a0",
        "\u3000",
        "\0",
        "\ud800",
        "\u2029",
        "supercalifragilistic",
      ),
      fc.string({ unit: "binary", maxLength: 4 }),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(""));

describe("cutting texts into segments", () => {
  it("[S3] keeps a text that fits as one segment, without the white space around it", () => {
    const text = "\n  one two\n\nthree. four \t";
    expect(segmentText(text, { maxTokens: 20, countTokens: countPieces })).toEqual([
      { text: "one two\n\nthree. four", start: 3, end: 23 },
    ]);
  });

  it("[S3] refuses an empty text and one of white space", () => {
    for (const text of ["", " ", "\n\t\u00a0\u3000\u2028\ufeff"])
      expect(() => texts(text, 10)).toThrow(expect.objectContaining({ code: "INVALID_TEXT" }));
  });

  it("[S3] cuts at paragraphs, then sentences, then words, then graphemes", () => {
    expect(texts("aa bb.\n\ncc dd.\r\n \r\nee ff.", 6)).toEqual(["aa bb.\n\ncc dd.", "ee ff."]);
    expect(texts("A b c. D e f. G h i.", 8)).toEqual(["A b c. D e f.", "G h i."]);
    expect(texts("one two six ten", 4)).toEqual(["one two", "six ten"]);
    expect(texts("abcdefghijklmnopqrst", 4)).toEqual(["abcdefgh", "ijklmnop", "qrst"]);
    expect(texts("👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 22, (text) => text.length)).toEqual(["👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"]);
  });

  it("[S3] fills a window from the end of a long paragraph on with what follows", () => {
    expect(texts("A b. C d. E f. G h.\n\nI j.\n\nK l.", 8)).toEqual(["A b. C d. E f.", "G h.\n\nI j.\n\nK l."]);
  });

  it("[S3] cuts a grapheme that alone is over the window between code points, and goes on behind it", () => {
    const text = `a\u0301\u0302\u0303\u0304\u0305b 🇩🇪🇫🇷`;
    expect(texts(text, 3, (part) => part.length)).toEqual([
      "a\u0301\u0302",
      "\u0303\u0304\u0305",
      "b",
      "🇩",
      "🇪",
      "🇫",
      "🇷",
    ]);
    expect(texts(text, 4, (part) => part.length)).toEqual(["a\u0301\u0302\u0303", "\u0304\u0305", "b", "🇩🇪", "🇫🇷"]);
  });

  it("[S3] says so when one character is over the window, and when the window is no count", () => {
    expect(() => texts("a😀", 1, (text) => Buffer.byteLength(text))).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", details: { maxTokens: 1 } }),
    );
    for (const maxTokens of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => texts("a", maxTokens)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });

  it("[S3] keeps every character, in windows, and cuts no grapheme that would fit", () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 3, max: 30 }), (text, maxTokens) => {
        fc.pre(text.trim() !== "");
        const segments = segmentText(text, { maxTokens, countTokens: countPieces });
        const fits = (part: string): boolean => countPieces(part) <= maxTokens;
        expectSound(text, segments, fits);
        const starts = graphemeStarts(text);
        const long = Array.from(graphemes.segment(text)).filter(({ segment }) => !fits(segment));
        for (const at of segments.flatMap(({ start, end }) => [start, end]))
          expect(starts.has(at) || long.some(({ index, segment }) => index < at && at < index + segment.length)).toBe(
            true,
          );
      }),
      { numRuns: 2000 },
    );
  });

  it("[S3] keeps to the window with a counter that does not grow with the text", () => {
    const hash = (text: string): number =>
      Array.from(text).reduce((sum, c) => (sum * 31 + (c.codePointAt(0) ?? 0)) % 97, 7);
    const count = (text: string): number => (Array.from(text).length <= 1 ? 1 : 1 + (hash(text) % 12));
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 1, max: 10 }), (text, maxTokens) => {
        fc.pre(text.trim() !== "");
        expectSound(text, segmentText(text, { maxTokens, countTokens: count }), (part) => count(part) <= maxTokens);
      }),
      { numRuns: 500 },
    );
  });

  it("[S3] leaves no room for one more word, sentence or paragraph", () => {
    const words = fc.array(fc.constantFrom("a", "bb", "cccc", "dddddd", "e."), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(words, fc.integer({ min: 4, max: 12 }), (parts, maxTokens) => {
        // No capital follows, so that no word ends a sentence: the next word is the next place to cut.
        const text = parts.join(" ");
        const segments = segmentText(text, { maxTokens, countTokens: countPieces });
        for (const [index, { start }] of segments.entries()) {
          const next = segments[index + 1];
          if (next === undefined) continue;
          const word = /^\S+/.exec(next.text)?.[0] ?? "";
          expect(countPieces(text.slice(start, next.start + word.length))).toBeGreaterThan(maxTokens);
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["prose", "The quick brown fox doesn't jump over lazy dogs in Lisbon. "],
    ["paragraphs", "One line of text.\n\nAnother one, a little longer than the first.\n\n"],
    ["one long word", "a"],
    ["one long grapheme", "\u0301"],
    ["no spaces", "我昨天去了北京大学图书馆研究生命科学"],
    ["mostly white space", `x${" ".repeat(3000)}`],
  ])("[S3] counts a few times the length of a long text: %s", (_, unit) => {
    const text = unit.repeat(Math.ceil(200_000 / unit.length));
    let counted = 0;
    const countTokens = (part: string): number => {
      counted += part.length;
      return countPieces(part);
    };
    const segments = segmentText(text, { maxTokens: 256, countTokens });
    expectSound(text, segments, (part) => countPieces(part) <= 256);
    expect(counted).toBeLessThan(16 * text.length);
  });
});
