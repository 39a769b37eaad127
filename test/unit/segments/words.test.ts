import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { TOKENIZER_VERSION, tokeniseWords } from "../../../src/segments/words.ts";

describe("the words of a text", () => {
  it("[S5] folds case, accents, width and ligatures, the same in every locale", () => {
    expect(tokeniseWords("CAFÉ café cafe\u0301 ｃａｆé")).toEqual(["cafe", "cafe", "cafe", "cafe"]);
    expect(tokeniseWords("Straße STRASSE ﬁsh İzmir ızmir Łódź Øre ΟΔΟΣ οδός")).toEqual(
      ["strass", "strass", "fish", "izmir", "izmir", "lodz", "or", "οδοσ", "οδοσ"], // Porter takes the final e
    );
    expect(tokeniseWords("مُحَمَّد محمد אֲנִי אני")).toEqual(["محمد", "محمد", "אני", "אני"]);
  });

  it("[S5] keeps the signs that make other words: Hindi and Thai vowels, Japanese voicing, Korean syllables", () => {
    expect(tokeniseWords("हिन्दी हिन्द")).toEqual(["हिन्दी", "हिन्द"]);
    expect(tokeniseWords("나는 서울에")).toEqual(["나는", "서울에"]);
    expect(tokeniseWords("ガキ カキ ｶﾞｷ")).toEqual(["ガキ", "カキ", "ガキ"]);
    expect(tokeniseWords("ไป")).toEqual(["ไป"]);
  });

  it("[S5] finds words in scripts without spaces", () => {
    expect(tokeniseWords("東京都に住んでいます。私は")).toEqual(expect.arrayContaining(["東京", "住", "私"]));
    expect(tokeniseWords("我昨天去了北京大学")).toEqual(expect.arrayContaining(["昨天", "北京", "大学"]));
    expect(tokeniseWords("ฉันอยากไปเที่ยวกรุงเทพมหานคร")).toEqual(["ฉัน", "อยาก", "ไป", "เที่ยว", "กรุงเทพมหานคร"]);
    expect(tokeniseWords("研究生")).toEqual(["研究生", "研究", "究生"]);
  });

  it("[S5] brings forms of English words together, and of names", () => {
    expect(tokeniseWords("running runs run dogs' Alice's")).toEqual(["run", "run", "run", "dog", "alic"]);
    expect(tokeniseWords("don't dont O’Brien OBrien l'amour amour d’accord")).toEqual([
      "dont",
      "dont",
      "obrien",
      "obrien",
      "amour",
      "amour",
      "accord",
    ]);
  });

  it("[S5] keeps numbers, takes addresses and names of things apart", () => {
    expect(tokeniseWords("3.14 1,000 1000 1,2,3 v1.2.3 10.0.0.1 1,234,567.89")).toEqual([
      "3.14",
      "1000",
      "1000",
      "1",
      "2",
      "3",
      "v1.2.3",
      "10.0.0.1",
      "1234567.89",
    ]);
    expect(tokeniseWords("al@example.com well-known snake_case node.js")).toEqual([
      "al",
      "exampl",
      "com",
      "well",
      "known",
      "snake",
      "case",
      "node",
      "js",
    ]);
    expect(tokeniseWords("Foo™ x² word¹")).toEqual(["foo", "tm", "x", "2", "word", "1"]);
  });

  it("[S5] takes emoji and flags for words, without tone and joiners", () => {
    expect(tokeniseWords("🎉❤️👍🏽👨‍👩‍👧🇩🇪🇫🇷")).toEqual(["🎉", "❤", "👍", "👨", "👩", "👧", "🇩🇪", "🇫🇷"]);
  });

  it("answers nothing for a text without words, and goes past what is no word", () => {
    for (const text of ["", "\0\0", " \n\t", "-- ... !?", "'", "\ud800", "\u200d\u0301"]) {
      expect(tokeniseWords(text)).toEqual([]);
    }
    expect(tokeniseWords("a\0b \ufeffso\u00adft\u200bsplit")).toEqual(["a", "b", "soft", "split"]);
  });

  it("caps a word at 128 units and never inside a surrogate pair", () => {
    expect(tokeniseWords(`${"1".repeat(500)} next`)).toEqual(["1".repeat(128), "next"]);
    expect(tokeniseWords(`1${"𝒜".repeat(80)}`)).toEqual([`1${"a".repeat(80)}`]);
    expect(tokeniseWords(`1${"𐐨".repeat(80)}`)).toEqual([`1${"𐐨".repeat(63)}`]);
    expect(tokeniseWords(`1'1${"𐐨".repeat(80)}`)).toEqual([`11${"𐐨".repeat(63)}`]);
  });

  it("[S5] answers equal words for texts that are canonically equal, whatever they hold", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
        const words = tokeniseWords(text);
        expect(tokeniseWords(text.normalize("NFD"))).toEqual(words);
        expect(tokeniseWords(text.normalize("NFC"))).toEqual(words);
        for (const word of words) {
          expect(word.length).toBeGreaterThan(0);
          expect(word.length).toBeLessThanOrEqual(128);
          expect(word).toMatch(/^[\p{L}\p{M}\p{N}\p{So}\p{Extended_Pictographic}.]+$/u);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it("gives ICU short pieces of a text without any end in sight, as its iterator copies the whole at each step", () => {
    const segment = vi.spyOn(Intl.Segmenter.prototype, "segment");
    const words = tokeniseWords("我昨天去了北京大学".repeat(4000));
    expect(words.length).toBeGreaterThan(12_000);
    expect(Math.max(...segment.mock.calls.map(([text]) => text.length))).toBeLessThanOrEqual(512);
    segment.mockRestore();
    expect(tokeniseWords("a".repeat(1_000_000))).toEqual(["a".repeat(128)]);
  });

  it("has a version, which the index of words is kept under", () => {
    expect(TOKENIZER_VERSION).toBe(1);
  });
});
