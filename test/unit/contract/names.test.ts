import { describe, expect, it } from "vitest";
import { assertId, assertName } from "../../../src/contract/names.ts";

const refused = expect.objectContaining({ code: "INVALID_NAME" });

describe("names and ids", () => {
  it.each(["a", "docs_2", "_", "0", "constructor", "select", "a".repeat(32)])(
    "[V12] the name %j is accepted",
    (name) => {
      expect(() => assertName(name, "store name")).not.toThrow();
    },
  );

  it.each(["", "A", "a-b", "a b", "docs\n", "\ndocs", "é", "../x", "a".repeat(33), "__proto__", "a;b", 'a"b', "a\0"])(
    "[V12] the name %j is refused as a whole string",
    (name) => {
      expect(() => assertName(name, "store name")).toThrow(refused);
      expect(() => assertName(name, "store name")).toThrow(/store name/);
    },
  );

  it("[V12] a name that is no text is refused", () => {
    for (const name of [undefined, null, 1, ["a"], { toString: () => "a" }])
      expect(() => assertName(name, "name")).toThrow(refused);
  });

  it("[V12] an id is any Unicode text of 1 to 512 UTF-8 bytes", () => {
    for (const id of ["x", "a'b", 'a"b', "a\\b", "%", "_", "\n", "😀", "a\0b", "x".repeat(512), "😀".repeat(128)]) {
      expect(() => assertId(id, "record id")).not.toThrow();
    }
    for (const id of ["", "x".repeat(513), "😀".repeat(129), "é".repeat(257), "\ud800", 5, null, undefined]) {
      expect(() => assertId(id, "record id")).toThrow(refused);
    }
  });
});
