import { describe, expect, it } from "vitest";
import { embedChecked } from "../../../src/embedding/checked.ts";
import { identityText } from "../../../src/embedding/identity.ts";
import { functionEmbedder } from "../../../src/embedding/providers/function.ts";
import { openMemory } from "../../../src/open-memory.ts";

const OPTIONS = { model: "lengths", dimensions: 2 } as const;
const lengths = (texts: readonly string[]): number[][] => texts.map((text) => [text.length, 1]);

describe("a function as an embedder", () => {
  it("may answer arrays, at once or later, and is told what the texts are", async () => {
    const kinds: string[] = [];
    const embedder = functionEmbedder(OPTIONS, async (texts, { kind }) => {
      kinds.push(kind);
      return lengths(texts);
    });
    expect(await embedChecked(embedder, ["a", "bbb"], { kind: "document" })).toEqual([
      Float32Array.of(1, 1),
      Float32Array.of(3, 1),
    ]);
    expect(await embedChecked(functionEmbedder(OPTIONS, lengths), ["cc"], { kind: "query" })).toHaveLength(1);
    expect(kinds).toEqual(["document"]);
  });

  it("is given texts in their templates, and its counter counts them so", async () => {
    const seen: string[] = [];
    const countTokens = (text: string): number => text.split(" ").length;
    const templates = { document: "passage: {text}", query: "query: {text}" };
    const embedder = functionEmbedder({ ...OPTIONS, templates, maxTokens: 3, countTokens }, (texts) => {
      seen.push(...texts);
      return lengths(texts);
    });
    await embedChecked(embedder, ["green tea"], { kind: "document" });
    await embedChecked(embedder, ["tea"], { kind: "query" });
    expect(seen).toEqual(["passage: green tea", "query: tea"]);
    await expect(embedChecked(embedder, ["hot green tea"], { kind: "document" })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      details: { tokens: 4 },
    });
  });

  it("[M1] is identified by every option that changes a vector", () => {
    const texts = [
      {},
      { model: "other" },
      { provider: "mine" },
      { revision: "2" },
      { dimensions: 3 },
      { options: { pooling: "cls" } },
      { templates: { query: "q: {text}" } },
    ].map((changed) => identityText(functionEmbedder({ ...OPTIONS, ...changed }, lengths)));
    expect(new Set(texts).size).toBe(texts.length);
  });

  it("[S7] that raises leaves events pending, and serves again when it answers", async () => {
    let isDown = true;
    const embedder = functionEmbedder(OPTIONS, (texts) => {
      if (isDown) throw Object.assign(new Error("down"), { status: 503 });
      return lengths(texts);
    });
    const memory = await openMemory({ inMemory: true, embedder });
    const session = await memory.createSession("a");
    expect(await session.remember({ text: "Lisbon" })).toMatchObject({ embedded: "pending" });
    isDown = false;
    expect(await memory.embedPending()).toMatchObject({ embedded: 1, waiting: 0 });
    await memory.close();
  });

  const wrong: readonly (readonly [string, object, RegExp])[] = [
    ["a misspelt option", { maxToken: 5 }, /no option "maxToken"/],
    ["no model", { model: "" }, /model must be a text/],
    ["no dimensions", { dimensions: undefined }, /dimensions \(1 to/],
    ["a window that nobody counts", { maxTokens: 5 }, /needs countTokens/],
    ["a window of half a token", { maxTokens: 0.5, countTokens: () => 1 }, /maxTokens is a whole number/],
    ["a counter that is none", { countTokens: 7 }, /countTokens is a function/],
    ["a template without its place", { templates: { query: "query" } }, /\{text\}/],
    ["a secret", { options: { apiKey: "x" } }, /name of a secret/],
  ];

  it.each(wrong)("[V14] with %s is refused when it is made", (_, options, says) => {
    const make = (): unknown => functionEmbedder({ ...OPTIONS, ...options } as typeof OPTIONS, lengths);
    expect(make).toThrowError(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    expect(make).toThrow(says);
  });

  it("[V14] without a function is refused when it is made", () => {
    expect(() => functionEmbedder(OPTIONS, undefined as never)).toThrow(/\(texts, \{ kind \}\) => vectors/);
  });
});
