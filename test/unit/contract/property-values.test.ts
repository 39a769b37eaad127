import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/contract/limits.ts";
import type { PropertyKind } from "../../../src/contract/properties.ts";
import { bindUserValue, bindValue, readValue } from "../../../src/contract/property-values.ts";

const mismatch = expect.objectContaining({ code: "PROPERTY_TYPE_MISMATCH" });

describe("binding a value to a declared type", () => {
  it.each<[PropertyKind, unknown]>([
    ["int", "1"],
    ["int", 1.5],
    ["int", true],
    ["int", null],
    ["int", [1]],
    ["int", new Date(0)],
    ["float", "0.5"],
    ["float", false],
    ["string", 1],
    ["string", new String("a")],
    ["bool", 1],
    ["bool", "true"],
    ["datetime", "soon"],
    ["datetime", 1_700_000_000],
    ["datetime", new Date(Number.NaN)],
    ["datetime", { datetime: "soon" }],
  ])("[V3] a value for %s that is %j is refused", (kind, value) => {
    expect(() => bindValue(kind, value, 'property "x"')).toThrow(mismatch);
    expect(() => bindValue(kind, value, 'property "x"')).toThrow(/property "x"/);
  });

  it("[V3] an integral number is an int however it is written", () => {
    expect(bindValue("int", 1.0, "x")).toBe(1n);
    expect(bindValue("int", 1e3, "x")).toBe(1000n);
    expect(bindValue("int", -0, "x")).toBe(0n);
  });

  it("[V4] an integer for a float key becomes the float that it equals, or is refused", () => {
    expect(bindValue("float", 3n, "x")).toBe(3);
    expect(bindValue("float", 2n ** 60n, "x")).toBe(2 ** 60);
    expect(() => bindValue("float", 2n ** 53n + 1n, "x")).toThrow(mismatch);
    expect(() => bindValue("float", 2n ** 63n, "x")).toThrow(mismatch);
  });

  it("[V4] a negative zero is the zero that every backend gives back", () => {
    expect(Object.is(bindValue("float", -0, "x"), 0)).toBe(true);
  });

  it("[V5] int64 is exact: a number only where it is safe, a bigint up to the extremes", () => {
    for (const value of [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n])
      expect(bindValue("int", value, "x")).toBe(value);
    expect(bindValue("int", Number.MAX_SAFE_INTEGER, "x")).toBe(BigInt(Number.MAX_SAFE_INTEGER));
    for (const value of [2 ** 53, 1e21, -(2 ** 53), 2n ** 63n, -(2n ** 63n) - 1n]) {
      expect(() => bindValue("int", value, "x")).toThrow(mismatch);
    }
  });

  it("[V5] an int is read as a number where safe and as a bigint beyond, or always as a bigint", () => {
    expect(readValue("int", 5n, "number")).toBe(5);
    expect(readValue("int", 5n, "bigint")).toBe(5n);
    expect(readValue("int", 2n ** 53n, "number")).toBe(2n ** 53n);
    expect(readValue("int", -(2n ** 53n) + 1n, "number")).toBe(Number.MIN_SAFE_INTEGER);
    expect(readValue("float", 0.5, "bigint")).toBe(0.5);
  });

  it("[V6] numbers that are not finite are refused, and every finite one is a float", () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect(() => bindValue("float", value, "x")).toThrow(mismatch);
      expect(() => bindValue("int", value, "x")).toThrow(mismatch);
      expect(() => bindUserValue(value, "x")).toThrow(mismatch);
    }
    for (const value of [0.1 + 0.2, 1e21, 1e308, Number.MIN_VALUE]) expect(bindValue("float", value, "x")).toBe(value);
  });

  it("[V7] a datetime is read back in its canonical text", () => {
    const bound = bindValue("datetime", "2024-01-01T00:00:00+05:30", "x");
    expect(bound).toBe(1_704_047_400_000_000n);
    expect(readValue("datetime", bound, "number")).toBe("2023-12-31T18:30:00.000000Z");
    expect(bindValue("datetime", new Date(1), "x")).toBe(1000n);
  });

  it("[V8] a text is kept as it is, a lone surrogate and one beyond the limit are refused", () => {
    for (const text of ["", "O'Brien", "\\", "\n", "a\0b", "😀"]) expect(bindValue("string", text, "x")).toBe(text);
    expect(() => bindValue("string", "a\ud800", 'property "x"')).toThrow(
      expect.objectContaining({ code: "INVALID_TEXT" }),
    );
    expect(() => bindValue("string", "a".repeat(LIMITS.textBytesMax + 1), "x")).toThrow(
      expect.objectContaining({ code: "LIMIT_EXCEEDED" }),
    );
  });

  it("[O4] a message never repeats the value", () => {
    expect(() => bindValue("int", "secret", "x")).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining("secret") }),
    );
  });
});

describe("binding a user's own value", () => {
  it("[F11] it keeps the kind that it comes with", () => {
    expect(bindUserValue("1", "x")).toEqual({ kind: "string", value: "1" });
    expect(bindUserValue(1, "x")).toEqual({ kind: "number", value: 1 });
    expect(bindUserValue(1n, "x")).toEqual({ kind: "number", value: 1 });
    expect(bindUserValue(2n ** 53n + 1n, "x")).toEqual({ kind: "number", value: 2n ** 53n + 1n });
    expect(bindUserValue(1e300, "x")).toEqual({ kind: "number", value: 1e300 });
    expect(bindUserValue(false, "x")).toEqual({ kind: "bool", value: false });
    expect(bindUserValue(new Date(1), "x")).toEqual({ kind: "datetime", value: 1000n, offset: "Z" });
    expect(bindUserValue("2024-01-01T00:00:00Z", "x").kind).toBe("string");
  });

  it("[V7] a datetime keeps the offset as it was written, and is plain data", () => {
    const bound = bindUserValue({ datetime: "2024-01-01T00:00:00-00:44:30" }, "x");
    expect(bound).toEqual({ kind: "datetime", value: 1_704_069_870_000_000n, offset: "-00:44:30" });
    expect(structuredClone(bound)).toEqual(bound);
  });

  it("[V3] what is no value of the four kinds is refused", () => {
    for (const value of [
      undefined,
      null,
      [],
      {},
      { datetime: "soon" },
      { datetime: 1 },
      Symbol("x"),
      () => 1,
      2n ** 63n,
    ]) {
      expect(() => bindUserValue(value, "x")).toThrow(mismatch);
    }
  });
});
