import { describe, expect, it } from "vitest";
import { QueryCache } from "../../../src/embedding/cache.ts";

const vector = Float32Array.of(1, 2, 3);
/** 4 components and the overhead of an entry. */
const ENTRY_BYTES = 16 + 256;

function filled(bytesMax: number, tenants: readonly string[], texts: number): QueryCache {
  const cache = new QueryCache({ bytesMax });
  for (let index = 0; index < texts; index += 1) {
    for (const tenant of tenants) cache.set({ tenant, space: "s", text: `t${index}` }, new Float32Array(4));
  }
  return cache;
}

describe("the cache of query embeddings", () => {
  it("[O3b] answers only the tenant and space that asked before", () => {
    const cache = new QueryCache();
    cache.set({ tenant: "a", space: "s", text: "q" }, vector);
    expect(cache.get({ tenant: "a", space: "s", text: "q" })).toEqual(vector);
    expect(cache.get({ tenant: "b", space: "s", text: "q" })).toBeUndefined();
    expect(cache.get({ tenant: "a", space: "s2", text: "q" })).toBeUndefined();
    expect(cache.get({ tenant: "a", space: "s", text: "Q" })).toBeUndefined();
  });

  it("[O3b] never takes two keys for one because their parts run together", () => {
    const cache = new QueryCache();
    cache.set({ tenant: "a", space: "bc", text: "d" }, vector);
    expect(cache.get({ tenant: "ab", space: "c", text: "d" })).toBeUndefined();
    expect(cache.get({ tenant: "a", space: "b", text: "cd" })).toBeUndefined();
    cache.set({ tenant: "1:a", space: "", text: "x" }, vector);
    expect(cache.get({ tenant: "1", space: "", text: ":ax" })).toBeUndefined();
  });

  it("[O3b] lets one tenant push out at most its own share", () => {
    const cache = filled(16 * ENTRY_BYTES, ["quiet"], 2);
    for (let index = 0; index < 1000; index += 1)
      cache.set({ tenant: "busy", space: "s", text: `b${index}` }, new Float32Array(4));
    expect(cache.get({ tenant: "quiet", space: "s", text: "t0" })).toBeDefined();
    expect(cache.get({ tenant: "quiet", space: "s", text: "t1" })).toBeDefined();
    expect(cache.size).toBe(4);
  });

  it("[E9] stays within its bytes with any number of tenants and texts", () => {
    const tenants = Array.from({ length: 50 }, (_, index) => `tenant ${index}`);
    const cache = filled(100 * ENTRY_BYTES, tenants, 20);
    expect(cache.bytes).toBe(100 * ENTRY_BYTES);
    expect(cache.size).toBe(100);
  });

  it("drops the entry that was used longest ago", () => {
    const cache = filled(16 * ENTRY_BYTES, ["a"], 2);
    cache.get({ tenant: "a", space: "s", text: "t0" });
    cache.set({ tenant: "a", space: "s", text: "t2" }, new Float32Array(4));
    expect(cache.get({ tenant: "a", space: "s", text: "t1" })).toBeUndefined();
    expect(cache.get({ tenant: "a", space: "s", text: "t0" })).toBeDefined();
  });

  it("keeps nothing that is larger than a tenant's share, and nothing at all with no bytes", () => {
    const cache = new QueryCache({ bytesMax: 4096 });
    cache.set({ tenant: "a", space: "s", text: "t" }, new Float32Array(1000));
    expect(cache.size).toBe(0);
    expect(filled(0, ["a"], 3).size).toBe(0);
  });

  it("replaces a vector and answers copies that a caller may change", () => {
    const cache = new QueryCache();
    const key = { tenant: "a", space: "s", text: "t" };
    const given = Float32Array.of(1, 1);
    cache.set(key, given);
    given[0] = 9;
    cache.get(key)?.fill(7);
    expect(cache.get(key)).toEqual(Float32Array.of(1, 1));
    cache.set(key, Float32Array.of(2, 2));
    expect(cache.get(key)).toEqual(Float32Array.of(2, 2));
    expect(cache.size).toBe(1);
  });

  it("[E14] forgets a tenant and counts its bytes back", () => {
    const cache = filled(800 * ENTRY_BYTES, ["a", "b"], 10);
    cache.forget("a");
    cache.forget("unknown");
    expect(cache.get({ tenant: "a", space: "s", text: "t1" })).toBeUndefined();
    expect(cache.get({ tenant: "b", space: "s", text: "t1" })).toBeDefined();
    expect(cache.bytes).toBe(10 * ENTRY_BYTES);
    cache.clear();
    expect([cache.bytes, cache.size]).toEqual([0, 0]);
  });

  it("refuses a bound that is no count", () => {
    expect(() => new QueryCache({ bytesMax: -1 })).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });
});
