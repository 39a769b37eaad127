import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertWellFormed, compareUtf8, utf8Length } from "../../../src/contract/text.ts";

const texts = fc.string({ unit: "binary", maxLength: 12 });

describe("texts", () => {
  it("[V8] a lone surrogate is refused, naming the field, wherever it stands", () => {
    for (const text of ["\ud800", "\udc00", "a\ud800b", "\udc00\ud800", "😀\ud83d"]) {
      expect(() => assertWellFormed(text, "property note")).toThrow(expect.objectContaining({ code: "INVALID_TEXT" }));
      expect(() => assertWellFormed(text, "property note")).toThrow(/property note/);
    }
    for (const text of ["", "a\0b", "😀", "\uffff"]) expect(() => assertWellFormed(text, "x")).not.toThrow();
  });

  it("[V12] the length in UTF-8 is what encoding would give", () => {
    expect(utf8Length("aé€😀\0")).toBe(1 + 2 + 3 + 4 + 1);
    fc.assert(fc.property(texts, (text) => utf8Length(text) === Buffer.byteLength(text)));
    for (const text of ["\ud800", "\udc00", "a\ud800b", "\udc00\ud800", "\ud800\ud800\udc00"]) {
      expect(utf8Length(text)).toBe(Buffer.byteLength(text));
    }
  });

  it("[Q3] texts are ordered as their UTF-8 bytes are, emoji behind the rest of the basic plane", () => {
    expect(compareUtf8("\uffff", "😀")).toBeLessThan(0);
    expect(compareUtf8("a", "ab")).toBeLessThan(0);
    expect(compareUtf8("b", "ab")).toBeGreaterThan(0);
    const near = fc.oneof(
      texts,
      fc.string({ unit: fc.constantFrom("a", "\u07ff", "\ue000", "\uffff", "😀", "\u{10ffff}") }),
    );
    fc.assert(
      fc.property(near, near, (a, b) => {
        expect(Math.sign(compareUtf8(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
  });
});
