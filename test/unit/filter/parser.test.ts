import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Filter } from "../../../src/contract/filter-tree.ts";
import { LIMITS } from "../../../src/contract/limits.ts";
import { isHoldfastError } from "../../../src/errors/index.ts";
import { bindFilter, canonicalise, parse, print, printBound } from "../../../src/filter/index.ts";
import { anyTrees, FILTER_SCHEMA } from "./arbitraries.ts";

/** The value of `n = …`. */
const value = (text: string): unknown => {
  const filter = parse(`n = ${text}`);
  return filter.op === "equals" ? filter.value : undefined;
};

const failure = (
  text: string,
): { readonly position: unknown; readonly expected: unknown; readonly message: string } => {
  try {
    parse(text);
  } catch (error) {
    if (isHoldfastError(error, "FILTER_SYNTAX")) {
      return { position: error.details.position, expected: error.details.expected, message: error.message };
    }
    throw error;
  }
  throw new Error(`accepted: ${text}`);
};

describe("the text form", () => {
  it("[F7] NOT binds tighter than AND, and AND tighter than OR", () => {
    expect(parse("NOT a = 1 AND b = 2 OR c = 3")).toEqual(parse("(((NOT (a = 1)) AND (b = 2)) OR (c = 3))"));
    expect(parse("a = 1 OR b = 2 AND c = 3")).toEqual(parse("a = 1 OR (b = 2 AND c = 3)"));
    expect(parse("a = 1 OR b = 2 AND c = 3")).not.toEqual(parse("(a = 1 OR b = 2) AND c = 3"));
  });

  it.each([
    ["role == 'user'", 6, "equality is one ="],
    ['role = "user"', 7, "a text stands in single quotes; double quotes are for keys"],
    ["role = user", 7, "a text stands in single quotes, such as 'home'"],
    ["role IN (user, 'tool')", 9, "a text stands in single quotes, such as 'home'"],
    ["role = )", 7, "expected a text in single quotes, a number"],
  ])("[F7] %j is refused with what was meant to be written", (text, position, advice) => {
    expect(failure(text)).toMatchObject({ position, message: expect.stringContaining(advice) });
    expect(failure(text).expected).toContain("a text in single quotes");
    expect(failure(text).message).not.toContain("user");
  });

  it("[F7] keywords stand in any case, and blanks where they divide tokens", () => {
    expect(parse("a=1 and not b in(1,2)or c between 1 and 2 aNd d iS nOt nUlL")).toEqual(
      parse("a = 1 AND NOT b IN (1, 2) OR c BETWEEN 1 AND 2 AND d IS NOT NULL"),
    );
    expect(parse("\n a\t=\r\n1 ")).toEqual(parse("a = 1"));
  });

  it("[F7] a number has its sign, fraction and exponent, exactly", () => {
    expect(value("-5")).toBe(-5);
    expect(parse("n > -5")).toEqual(parse("n>-5"));
    expect(parse("n > -5")).not.toEqual(parse("n > 5"));
    expect([value("1"), value("1.0"), value("1e0"), value("10e-1"), value("0.1e1"), value("001")]).toEqual([
      1, 1, 1, 1, 1, 1,
    ]);
    expect(Object.is(value("-0"), 0)).toBe(true);
    expect(Object.is(value("-0.0"), 0)).toBe(true);
    expect(value("9007199254740993")).toBe(9007199254740993n);
    expect(value("9007199254740993.0")).toBe(9007199254740993n);
    expect(value("900719925474099.3e1")).toBe(9007199254740993n);
    expect(value("-9223372036854775808")).toBe(-(2n ** 63n));
    expect(value("9223372036854775807")).toBe(2n ** 63n - 1n);
    expect(value("1e21")).toBe(1e21);
    expect(value("0.30000000000000004")).toBe(0.1 + 0.2);
    expect(value("1.7976931348623157e308")).toBe(Number.MAX_VALUE);
    expect(value("5e-324")).toBe(5e-324);
    expect(value("0e99999999999")).toBe(0);
  });

  it.each(["1e400", "-1e400", "1e-400", "1.00000000000000000001", "9007199254740993.5", "1e99999999999"])(
    "[V5] %s, which no number holds without changing, is refused and not rounded",
    (text) => {
      expect(failure(`n = ${text}`).position).toBe(4);
    },
  );

  it("[F7] a quote in a text is doubled, and everything else stands for itself", () => {
    expect(value("'O''Brien'")).toBe("O'Brien");
    expect(value("''''")).toBe("'");
    expect(value("''")).toBe("");
    expect(value("'a\\'")).toBe("a\\");
    expect(value("'a\0b\n\"%_😀'")).toBe('a\0b\n"%_😀');
    expect(value("'x'' OR 1=1 --'")).toBe("x' OR 1=1 --");
  });

  it("[F6] an instant is named as one", () => {
    expect(value("timestamp '2024-01-01T00:00:00+05:30'")).toEqual({ datetime: "2023-12-31T18:30:00.000000Z" });
    expect(value("TIMESTAMP('2024-01-01T00:00:00Z')")).toEqual({ datetime: "2024-01-01T00:00:00.000000Z" });
    expect(value("date ( '2024-01-01' )")).toEqual({ datetime: "2024-01-01T00:00:00.000000Z" });
    expect(failure("n = timestamp '2024-02-30T00:00:00Z'").position).toBe(14);
    expect(failure("n = timestamp '2024-01-01'").position).toBe(14);
    expect(failure("n = timestamp 2024").position).toBe(14);
    expect(failure("n = timestamp ('2024-01-01T00:00:00Z'").position).toBe(37);
  });

  it("[F7] a field is bare, quoted, or a user's own", () => {
    const fieldOf = (text: string): unknown => {
      const filter = parse(`${text} IS NULL`);
      return filter.op === "isNull" ? filter.field : undefined;
    };
    expect(fieldOf("kind")).toEqual({ scope: "declared", name: "kind" });
    expect(fieldOf("2fa")).toEqual({ scope: "declared", name: "2fa" });
    expect(fieldOf('"in"')).toEqual({ scope: "declared", name: "in" });
    expect(fieldOf("date")).toEqual({ scope: "declared", name: "date" });
    expect(fieldOf("m")).toEqual({ scope: "declared", name: "m" });
    expect(fieldOf("m.topic")).toEqual({ scope: "m", name: "topic" });
    expect(fieldOf("metadata.topic")).toEqual({ scope: "m", name: "topic" });
    expect(fieldOf("m.größe_2")).toEqual({ scope: "m", name: "größe_2" });
    expect(fieldOf("m.話題")).toEqual({ scope: "m", name: "話題" });
    expect(fieldOf('m."Customer ID"')).toEqual({ scope: "m", name: "Customer ID" });
    expect(fieldOf('m."a""b"')).toEqual({ scope: "m", name: 'a"b' });
    expect(fieldOf('m."in"')).toEqual({ scope: "m", name: "in" });
  });

  it.each([
    ["n", 1],
    ["n =", 3],
    ["n == 1", 3],
    ["= 1", 0],
    ["n = 1 AND", 9],
    ["n = 1 n = 2", 6],
    ["n = 1;", 5],
    ["n = 1 -- more", 6],
    ["n = 1 AND ANDb = 2 c", 19],
    ["n = 1 XOR n = 2", 6],
    ["n = a", 4],
    ["n = NULL", 4],
    ["n != null", 5],
    ["n = +5", 4],
    ["n = - 5", 4],
    ["n = .5", 4],
    ["n = 5.", 5],
    ["n = 1e", 5],
    ["n = 1a", 5],
    ["n = 1AND m.a = 2", 5],
    ["n = 0x10", 5],
    ["n = 1_000", 5],
    ["n = '1", 4],
    ["n = '1''", 4],
    ['"n = 1', 0],
    ['n = "1"', 4],
    ["n = ‘1’", 4],
    ["(n = 1", 6],
    ["n = 1)", 5],
    ["()", 1],
    ["n IN 1", 5],
    ["n IN (1,)", 8],
    ["n IN (,1)", 6],
    ["n IN (1 2)", 8],
    ["n IN (NULL)", 6],
    ["n IN (1", 7],
    ["n IS 1", 5],
    ["n IS NOT 1", 9],
    ["n NOT 1", 6],
    ["n NOT NULL", 6],
    ["n BETWEEN 1", 11],
    ["n BETWEEN 1 OR 2", 12],
    ["NOT", 3],
    ["AND n = 1", 0],
    ["in = 1", 0],
    ["m.in = 1", 2],
    ["m. a = 1", 2],
    ["m.2a = 1", 2],
    ["m .a = 1", 2],
    ["a.b = 1", 1],
    ["TRUE = 1", 5],
    ["1 = 1", -1],
    ["n\u00a0= 1", 1],
    ["n = 1\0", 5],
    ["n ＝ 1", 2],
    ["x' OR 1=1 --", 1],
  ])("[F7] %j is refused with a position", (text, position) => {
    if (position === -1) {
      // A digit may begin a field, and only there: this is the undeclared field "1", not a comparison of numbers.
      expect(() => bindFilter(parse(text), FILTER_SCHEMA)).toThrow(
        expect.objectContaining({ code: "UNDECLARED_PROPERTY" }),
      );
      return;
    }
    expect(failure(text).position).toBe(position);
    expect(failure(text).message).toContain(`position ${position}`);
    expect((failure(text).expected as readonly string[]).length).toBeGreaterThan(0);
  });

  it("[F7] = NULL is refused with the hint to write IS NULL", () => {
    expect(failure("n = NULL").message).toContain("IS NULL");
  });

  it("[F7] 5,000 parentheses, NOTs or levels end in an error with a position, 100 are read", () => {
    for (const [open, close] of [
      ["(", ")"],
      ["NOT ", ""],
      ["NOT (", ")"],
      ["(n = 1 AND ", ")"],
    ] as const) {
      expect(failure(`${open.repeat(5_000)}n = 1${close.repeat(5_000)}`).message).toMatch(/levels/);
    }
    expect(parse(`${"(".repeat(100)}n = 1${")".repeat(100)}`)).toEqual(parse("n = 1"));
    expect(failure(`${"(".repeat(101)}n = 1${")".repeat(101)}`).position).toBe(101);
  });

  it("[F7] a text beyond 64 KiB is refused, counted in UTF-8", () => {
    const invalid = expect.objectContaining({ code: "INVALID_FILTER" });
    const padded = (fill: string, bytes: number): string =>
      `n = '${fill.repeat((bytes - 6) / Buffer.byteLength(fill))}'`;
    expect(() => parse(padded("a", LIMITS.filterTextBytesMax))).not.toThrow();
    expect(() => parse(padded("a", LIMITS.filterTextBytesMax + 1))).toThrow(invalid);
    expect(() => parse(padded("é", LIMITS.filterTextBytesMax + 2))).toThrow(invalid);
    expect(() => parse(5 as unknown as string)).toThrow(invalid);
  });

  it("[F7] long runs of digits and zeros are read in no time that grows with their square", () => {
    expect(value(`0.${"0".repeat(60_000)}`)).toBe(0);
    expect(failure(`n = 0.${"0".repeat(60_000)}1`).position).toBe(4);
    expect(value(`1${"0".repeat(300)}.0`)).toBe(1e300);
  });

  it("[O4] an error never repeats the text", () => {
    expect(failure("n = 'secret' secret").message).not.toContain("secret");
  });
});

describe("printing", () => {
  it.each([
    "TRUE",
    "FALSE",
    "NOT TRUE",
    "kind = 'O''Brien'",
    "kind != 'a'",
    "kind IN ('a', 'b')",
    "kind NOT IN ('a', 'b')",
    "n IN ()",
    "n IS NULL",
    "n IS NOT NULL",
    "NOT (n > 1)",
    "n >= 1 AND n <= 2",
    "n = 1 AND (kind = 'a' OR kind = 'b') OR NOT (n = 1 AND draft = true)",
    "at > timestamp '2024-01-01T00:00:00.000000Z'",
    "n = -9223372036854775808",
    "score = 0.30000000000000004",
    "score = 1e+300",
    'm."Customer ID" = 1 AND m."in" = 2 AND "in" = 3 AND m.größe = 4 AND "2fa" = true',
  ])("[F7] %s is canonical: it is printed as it is read", (text) => {
    expect(print(parse(text))).toBe(text);
  });

  it("[F7] parse(print(f)) is f for every canonical tree", () => {
    fc.assert(
      fc.property(anyTrees, (filter) => {
        const canonical = canonicalise(filter);
        expect(parse(print(filter))).toEqual(canonical);
        expect(canonicalise(canonical)).toEqual(canonical);
      }),
      { numRuns: 1_500, seed: 20_260_505 },
    );
  });

  it("[F7] the deepest tree can be read again", () => {
    let filter: Filter = { op: "isNull", field: { scope: "m", name: "x" } };
    for (let level = 1; level < LIMITS.filterDepthMax - 1; level += 2) {
      filter = { op: "not", operand: { op: "and", operands: [filter, { op: "all" }] } };
    }
    expect(parse(print(filter))).toEqual(canonicalise(filter));
  });

  it("[F7] a bound filter is printed by its types and means the same when it is read again", () => {
    const printed = (where: string): string => printBound(bindFilter(parse(where), FILTER_SCHEMA));
    expect(printed("n = 1.0")).toBe("n = 1");
    expect(printed("score = 1")).toBe("score = 1.0");
    expect(printed("score = 1152921504606846976")).toBe("score = 1152921504606846976.0");
    expect(printed("score = 1e300")).toBe("score = 1e+300");
    expect(printed("m.x = 1")).toBe("m.x = 1");
    expect(printed("at = date '1970-01-01'")).toBe("at = timestamp '1970-01-01T00:00:00.000000Z'");
    fc.assert(
      fc.property(anyTrees, (filter) => {
        const bound = bindFilter(filter, FILTER_SCHEMA);
        expect(bindFilter(parse(printBound(bound)), FILTER_SCHEMA)).toEqual(bound);
      }),
      { numRuns: 1_000, seed: 20_260_506 },
    );
  });

  it("[F7] whatever is read at all is printed and read as the same", () => {
    const word = fc.constantFrom(
      "n",
      "m.",
      "m.a",
      "=",
      "!=",
      "<",
      "(",
      ")",
      "AND",
      "OR",
      "NOT",
      "IN",
      "IS",
      "NULL",
      "TRUE",
      "1",
      "-2",
      "'a'",
      "'",
      ",",
      "BETWEEN",
      '"q"',
      " ",
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        const text = words.join(" ");
        let filter: Filter;
        try {
          filter = parse(text);
        } catch (error) {
          expect(isHoldfastError(error, "FILTER_SYNTAX")).toBe(true);
          return;
        }
        expect(parse(print(filter))).toEqual(filter);
      }),
      { numRuns: 3_000, seed: 20_260_507 },
    );
  });
});
