import { describe, expect, it } from "vitest";
import {
  assertSchema,
  bindPatch,
  bindProperties,
  kindOf,
  type PropertyInput,
  type PropertySchema,
} from "../../../src/contract/properties.ts";

const SCHEMA = { lang: "string", year: "int", score: "float" } as const satisfies PropertySchema;
const code = (name: string): unknown => expect.objectContaining({ code: name });

describe("a schema", () => {
  it("[V12] names follow the form, `m` and `metadata` and reserved ones are refused", () => {
    expect(() =>
      assertSchema({ id: "string", vector: "int", rowid: "bool", select: "float", constructor: "datetime" }),
    ).not.toThrow();
    for (const name of ["", "Year", "a b", "year\n", "a".repeat(33), "m", "metadata"]) {
      expect(() => assertSchema({ [name]: "int" })).toThrow(code("INVALID_NAME"));
    }
    expect(() => assertSchema(JSON.parse('{"__proto__": "int"}'))).toThrow(code("INVALID_NAME"));
    expect(() => assertSchema({ session: "string" }, ["session"])).toThrow(code("INVALID_NAME"));
  });

  it("[V3] an unknown type, a schema that is no object and too many keys are refused", () => {
    for (const kind of ["text", "Int", undefined, null, "toString"]) {
      expect(() => assertSchema({ year: kind })).toThrow(code("INVALID_ARGUMENT"));
    }
    for (const schema of [undefined, null, "year", ["int"], new Map([["year", "int"]])]) {
      expect(() => assertSchema(schema)).toThrow(code("INVALID_ARGUMENT"));
    }
    const many = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`p${index}`, "int"]));
    expect(() => assertSchema(many)).toThrow(code("LIMIT_EXCEEDED"));
  });

  it("[V2] a type is never taken from a prototype", () => {
    expect(kindOf(SCHEMA, "toString")).toBeUndefined();
    expect(kindOf(SCHEMA, "__proto__")).toBeUndefined();
    expect(kindOf({ constructor: "int" } as unknown as PropertySchema, "constructor")).toBe("int");
  });
});

describe("binding properties", () => {
  it("[V4] gives the bound values in the order of the schema", () => {
    expect(bindProperties(SCHEMA, { score: 1, year: 2024, lang: "en" })).toEqual(["en", 2024n, 1]);
  });

  it("[V9] absent, null and undefined are one state", () => {
    expect(bindProperties(SCHEMA, { lang: null, year: undefined })).toEqual([undefined, undefined, undefined]);
    expect(bindProperties(SCHEMA, undefined)).toEqual([undefined, undefined, undefined]);
  });

  it("[V2] an undeclared key is refused before any value is looked at, also one without a value", () => {
    expect(() => bindProperties(SCHEMA, { year: "wrong", yaer: 1 }, "record 3")).toThrow(code("UNDECLARED_PROPERTY"));
    expect(() => bindProperties(SCHEMA, { yaer: undefined }, "record 3")).toThrow(/record 3.*yaer/);
    expect(() => bindProperties(SCHEMA, JSON.parse('{"__proto__": {"year": 1}}'))).toThrow(code("UNDECLARED_PROPERTY"));
    expect(() => bindProperties(SCHEMA, { constructor: "x" } as unknown as PropertyInput)).toThrow(
      code("UNDECLARED_PROPERTY"),
    );
  });

  it("[V2] a value is never taken from a prototype", () => {
    expect(bindProperties(SCHEMA, Object.create({ year: 1 }) as PropertyInput)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(bindProperties({ constructor: "string" } as unknown as PropertySchema, {})).toEqual([undefined]);
  });

  it("[V3] what is no plain object is refused, and not taken for an empty one", () => {
    for (const input of [new Map([["year", 1]]), [1], "year", 5, null, new Date()]) {
      expect(() => bindProperties(SCHEMA, input as unknown as PropertyInput)).toThrow(code("INVALID_ARGUMENT"));
    }
  });

  it("[V11] a patch tells removing from leaving alone", () => {
    const patch = bindPatch(SCHEMA, { lang: null, year: 5, score: undefined });
    expect([...patch]).toEqual([
      ["lang", null],
      ["year", 5n],
    ]);
    expect(() => bindPatch(SCHEMA, { yaer: null })).toThrow(code("UNDECLARED_PROPERTY"));
  });
});
