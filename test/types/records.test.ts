import { describe, expect, it } from "vitest";
import type { Partition } from "../../src/contract/store.ts";

const SCHEMA = { lang: "string", year: "int", at: "datetime" } as const;

/** Compiled, never run: each marked line must not compile. */
function written(partition: Partition<typeof SCHEMA>): readonly (() => unknown)[] {
  const vector = [1, 2];
  return [
    () => partition.upsert([{ id: "a", vector, properties: { lang: "en", year: 9n, at: new Date(0) } }]),
    () =>
      partition.upsert([
        { id: "a", vector, properties: { lang: null, at: "2026-01-01T00:00:00Z" } },
        { id: "b", vector },
      ]),
    () => partition.patch("a", { year: null }),
    // @ts-expect-error a key that is not declared
    () => partition.upsert([{ id: "a", vector, properties: { language: "en" } }]),
    // @ts-expect-error a text for an int
    () => partition.upsert([{ id: "a", vector, properties: { year: "2024" } }]),
    // @ts-expect-error no vector
    () => partition.upsert([{ id: "a" }]),
    // @ts-expect-error a key that is not declared
    () => partition.patch("a", { language: "en" }),
  ];
}

describe("types of records", () => {
  it("[V2, V3] keys that are not declared and values of other types do not compile", () => {
    expect(typeof written).toBe("function");
  });
});
