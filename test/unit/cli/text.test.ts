import { describe, expect, it } from "vitest";
import { toJsonLine } from "../../../src/cli/text/json.ts";
import { toPrintableJson, toPrintableLine, toPrintableText } from "../../../src/cli/text/printable.ts";
import { formatBytes, formatCount, formatDuration, formatMinute } from "../../../src/cli/text/quantities.ts";
import { renderTable } from "../../../src/cli/text/table.ts";
import { displayWidth, fitLine, padLine, wrapText } from "../../../src/cli/text/width.ts";

describe("printable text", () => {
  it("no control character reaches a terminal: escape sequences are spelled out", () => {
    expect(toPrintableText("\u001b[31mred\u0007 \u009b2J \u007f \u0000")).toBe("\\x1b[31mred\\x07 \\x9b2J \\x7f \\x00");
  });

  it("marks that turn the direction of writing are spelled out", () => {
    expect(toPrintableText("a\u202eb\u2066c\u200fd")).toBe("a\\u202eb\\u2066c\\u200fd");
  });

  it("line breaks of every kind stay in a text and become spaces in a line", () => {
    expect(toPrintableText("a\r\nb\rc\u2028d")).toBe("a\nb\nc\nd");
    expect(toPrintableLine("a \r\n b\u2029c\td")).toBe("a b c d");
  });

  it("JSON stays the same value with the same characters escaped", () => {
    const value = { text: "\u001b[2J\u009b\u202e\u007f é 語" };
    const json = toPrintableJson(JSON.stringify(value));
    expect(JSON.parse(json)).toEqual(value);
    expect(json).toBe('{"text":"\\u001b[2J\\u009b\\u202e\\u007f é 語"}');
  });

  it("[V5] integers beyond 2^53 are decimal strings in JSON", () => {
    expect(toJsonLine({ n: 2n ** 63n - 1n, m: 1 })).toBe('{"n":"9223372036854775807","m":1}\n');
  });
});

describe("width", () => {
  it("counts columns of wide, combining and joined characters", () => {
    const cases = ["abc", "é", "e\u0301", "語", "한", "ｱ", "Ａ", "🙂", "👩‍👩‍👧", "🇵🇹", "❤️", "a\u200bb"];
    expect(cases.map(displayWidth)).toEqual([3, 1, 1, 2, 2, 1, 2, 2, 2, 2, 2, 2]);
  });

  it("cuts between characters and never beyond the columns", () => {
    expect(fitLine("abcdef", 4)).toBe("abc…");
    expect(fitLine("日本語", 5)).toBe("日本…");
    expect(fitLine("日本語", 4)).toBe("日…");
    expect(fitLine("abc", 3)).toBe("abc");
    expect(fitLine("abc", 0)).toBe("");
  });

  it("pads by columns", () => {
    expect(padLine("日", 4)).toBe("日  ");
    expect(padLine("7", 3, "right")).toBe("  7");
  });

  it("wraps at spaces, breaks words that are too long, and keeps line breaks", () => {
    expect(wrapText("the quick brown fox", 10)).toEqual(["the quick", "brown fox"]);
    expect(wrapText("abcdefghij k", 4)).toEqual(["abcd", "efgh", "ij k"]);
    expect(wrapText("日本語テキスト", 4)).toEqual(["日本", "語テ", "キス", "ト"]);
    expect(wrapText("a\n\nb", 10)).toEqual(["a", "", "b"]);
    expect(wrapText("as long as it is", Number.POSITIVE_INFINITY)).toEqual(["as long as it is"]);
    expect(wrapText("日", 1)).toEqual(["日"]);
  });

  it("no wrapped line is wider than the columns, and no word is lost", () => {
    const text = "Ein längerer Satz mit 日本語 und 🙂 Bildern, und einemaußerordentlichlangenwort darin.";
    for (let columns = 2; columns < 40; columns += 1) {
      const lines = wrapText(text, columns);
      expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(columns);
      expect(lines.join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
    }
  });
});

describe("tables", () => {
  const columns = [
    { title: "NAME", shrinks: true },
    { title: "COUNT", align: "right" },
  ] as const;

  it("align columns by width on the screen", () => {
    expect(
      renderTable(
        columns,
        [
          ["日本", "5"],
          ["abc", "1,234"],
        ],
        80,
      ),
    ).toEqual(["NAME  COUNT", "日本      5", "abc   1,234"]);
  });

  it("fit the terminal by shortening the columns that may shrink", () => {
    const lines = renderTable(columns, [["x".repeat(60), "5"]], 30);
    expect(lines.map(displayWidth)).toEqual([30, 30]);
    expect(lines[1]).toBe(`${"x".repeat(22)}…      5`);
  });

  it("are not shortened where there is no terminal", () => {
    expect(renderTable(columns, [["x".repeat(60), "5"]], Number.POSITIVE_INFINITY)[1]).toContain("x".repeat(60));
  });

  it("never print a control character of a cell", () => {
    expect(renderTable(columns, [["a\u001b[31m\nb", "5"]], 80)[1]).toBe("a\\x1b[31m b      5");
  });
});

describe("quantities", () => {
  it("are written for people", () => {
    expect([formatCount(5882), formatBytes(512), formatBytes(12.34 * 2 ** 20)]).toEqual(["5,882", "512 B", "12.3 MiB"]);
    expect([400, 48_000, 185_000, 7_800_000].map(formatDuration)).toEqual(["0 s", "48 s", "3 min 05 s", "2 h 10 min"]);
    expect(formatMinute("2026-05-01T12:34:56.000000Z")).toBe("2026-05-01 12:34");
  });
});
