import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openMemory } from "../../../src/open-memory.ts";
import { openStore } from "../../../src/open-store.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { temporaryFolder } from "../database/connections.ts";

const WRONG: readonly (readonly [string, unknown])[] = [
  ["path", 5],
  ["path", ""],
  ["path", "a\0b"],
  ["inMemory", "true"],
  ["inMemory", 1],
  ["threads", "many"],
  ["exclusive", "yes"],
  ["exclusive", 1],
  ["exclusive", null],
  ["lockTimeoutMs", "5"],
  ["lockTimeoutMs", Number.NaN],
  ["lockTimeoutMs", -1],
  ["lockTimeoutMs", null],
  ["memoryBudgetBytes", "2000000"],
  ["memoryBudgetBytes", 1],
  ["memoryBudgetBytes", Number.NaN],
];

describe("where a store or a memory is kept", () => {
  it.each(WRONG)("%s as %j is refused, and no folder is made", async (name, value) => {
    const path = join(temporaryFolder(), "a.holdfast");
    const place = { path, threads: "inline", [name]: value } as { readonly path: string };
    const invalid = { code: "INVALID_ARGUMENT" };
    await expect(openStore({ ...place, name: "docs", dimensions: 3 })).rejects.toMatchObject(invalid);
    await expect(openMemory({ ...place, embedder: createHashEmbedder() })).rejects.toMatchObject(invalid);
  });
});
