import { describe, expect, it } from "vitest";
import { embedChecked } from "../../../src/embedding/checked.ts";
import { embedEach } from "../../../src/embedding/each.ts";
import type { Embedder } from "../../../src/embedding/embedder.ts";
import { HoldfastError } from "../../../src/errors/index.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";

const document = { kind: "document" } as const;

/** An embedder whose answers are as given, whatever their form. */
function answering(answer: (texts: readonly string[]) => unknown, dimensions = 2): Embedder {
  return {
    identity: { provider: "test", model: "scripted" },
    dimensions,
    embed: async (texts) => answer(texts) as readonly Float32Array[],
  };
}

const sound = (): Float32Array => Float32Array.of(1, 0);

describe("embedChecked", () => {
  it("answers one vector a text in input order, over several calls", async () => {
    const embedder = createHashEmbedder();
    const texts = Array.from({ length: 10 }, (_, index) => `text number ${index}`);
    const vectors = await embedChecked(embedder, texts, { ...document, textsPerCall: 4 });
    expect(embedder.calls.map((call) => call.length)).toEqual([4, 4, 2]);
    const single = await embedChecked(embedder, ["text number 9"], document);
    expect(vectors).toHaveLength(10);
    expect(vectors[9]).toEqual(single[0]);
  });

  it("asks the embedder nothing when there is no text", async () => {
    const embedder = createHashEmbedder();
    expect(await embedChecked(embedder, [], document)).toEqual([]);
    expect(embedder.calls).toEqual([]);
  });

  it("[S7] an embedder that empties the list that it is given moves no vector to another text when a call is repeated in halves", async () => {
    const hash = createHashEmbedder();
    const texts = ["zebra", "apple", "mango"];
    const embed = async (given: readonly string[]): Promise<readonly Float32Array[]> => {
      const own = (given as string[]).splice(0).sort();
      if (own.length > 1) throw Object.assign(new Error("too many"), { status: 400 });
      return hash.embed(own, document);
    };
    const vectors = await embedEach({ ...hash, embed }, texts, document);
    expect(vectors).toEqual((await embedChecked(hash, texts, document)).map((vector) => ({ vector })));
    expect(texts).toEqual(["zebra", "apple", "mango"]);
  });

  it.each(["", "   ", "\n\t", "\u00a0"])("[S3] refuses the empty text %j before anything is sent", async (empty) => {
    const embedder = createHashEmbedder();
    const call = embedChecked(embedder, ["fine", empty], document);
    await expect(call).rejects.toMatchObject({ code: "INVALID_TEXT", details: { position: 1 } });
    expect(embedder.calls).toEqual([]);
  });

  it("[S3] refuses a text of which nothing reaches the model", async () => {
    const embedder = { ...createHashEmbedder(), countTokens: (text: string) => (text === "\u200b" ? 0 : 1) };
    await expect(embedChecked(embedder, ["\u200b"], document)).rejects.toMatchObject({ code: "INVALID_TEXT" });
  });

  it("[V8] refuses a lone surrogate and takes a pair", async () => {
    const embedder = createHashEmbedder();
    await expect(embedChecked(embedder, ["a\ud800b"], document)).rejects.toMatchObject({ code: "INVALID_TEXT" });
    expect(await embedChecked(embedder, ["a\ud83d\ude00b"], document)).toHaveLength(1);
  });

  it("[S3] [V14] refuses a text over the window before anything is paid for, and cuts none", async () => {
    const embedder = createHashEmbedder({ maxTokens: 3 });
    await expect(embedChecked(embedder, ["one two three", "one two three four"], document)).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      details: { position: 1, tokens: 4, tokensMax: 3 },
    });
    expect(embedder.calls).toEqual([]);
    expect(await embedChecked(embedder, ["one two three"], document)).toHaveLength(1);
  });

  it("[O4] names positions in its errors and never a text", async () => {
    const embedder = createHashEmbedder({ maxTokens: 1 });
    const error: unknown = await embedChecked(embedder, ["hunter2 hunter2"], document).catch(
      (thrown: unknown) => thrown,
    );
    expect(JSON.stringify(error)).not.toContain("hunter2");
  });

  it.each<[string, unknown]>([
    ["too few vectors", [sound()]],
    ["too many vectors", [sound(), sound(), sound()]],
    ["no list", undefined],
    ["a hole", [sound(), undefined]],
    ["a text for a vector", [sound(), "0.1"]],
    ["texts in a vector", [sound(), ["0.1", "0.2"]]],
    ["NaN", [sound(), Float32Array.of(Number.NaN, 1)]],
    ["infinity", [sound(), [Number.POSITIVE_INFINITY, 1]]],
    ["a component beyond float32", [sound(), [1e300, 1]]],
    ["a zero vector", [sound(), Float32Array.of(0, -0)]],
    ["a norm too small for a cosine", [sound(), [1e-40, 0]]],
  ])("[S7] fails on %s instead of passing it on", async (_, answer) => {
    const call = embedChecked(
      answering(() => answer),
      ["a", "b"],
      document,
    );
    await expect(call).rejects.toMatchObject({ code: "EMBEDDING_FAILED" });
  });

  it("[V10] names the position, the size found and the size declared of a vector of another size", async () => {
    const embedder = answering((texts) => texts.map((text) => (text === "odd" ? [1, 2, 3] : [1, 2])));
    await expect(embedChecked(embedder, ["a", "b", "odd"], { ...document, textsPerCall: 2 })).rejects.toMatchObject({
      code: "DIMENSION_MISMATCH",
      details: { position: 2, dimensions: 3, declared: 2 },
    });
  });

  it("takes plain arrays and copies a buffer that the embedder uses again", async () => {
    const shared = new Float32Array(2);
    const embedder = answering((texts) => texts.map((text) => shared.fill(text.length)));
    const vectors = await embedChecked(embedder, ["a", "bbb"], { ...document, textsPerCall: 1 });
    expect(vectors).toEqual([Float32Array.of(1, 1), Float32Array.of(3, 3)]);
    expect(
      await embedChecked(
        answering(() => [[1, 2]]),
        ["a"],
        document,
      ),
    ).toEqual([Float32Array.of(1, 2)]);
  });

  it("[S7] turns what the embedder throws into EMBEDDING_FAILED with its cause, and keeps errors of ours", async () => {
    const cause = new Error("503 from upstream");
    const failing = createHashEmbedder({ before: () => Promise.reject(cause) });
    await expect(embedChecked(failing, ["a"], document)).rejects.toMatchObject({
      code: "EMBEDDING_FAILED",
      cause,
      retry: "later",
    });
    const busy = new HoldfastError("BUSY", "wait");
    const refusing = createHashEmbedder({ before: () => Promise.reject(busy) });
    await expect(embedChecked(refusing, ["a"], document)).rejects.toBe(busy);
    const missing = new HoldfastError("PACKAGE_MISSING", "install it");
    const opening = { ...createHashEmbedder(), open: () => Promise.reject(missing) };
    await expect(embedChecked(opening, ["a"], document)).rejects.toBe(missing);
  });

  it("opens the embedder before it counts", async () => {
    const seen: string[] = [];
    const embedder = {
      ...createHashEmbedder(),
      open: async () => void seen.push("open"),
      countTokens: () => seen.push("count"),
    };
    await embedChecked(embedder, ["a"], document);
    expect(seen).toEqual(["open", "count"]);
  });

  it("[Q11] lets the caller go at once when the signal is raised, though the embedder never answers", async () => {
    const controller = new AbortController();
    const embedder = createHashEmbedder({
      before: () => {
        queueMicrotask(() => controller.abort());
        return new Promise<void>(() => undefined);
      },
    });
    await expect(embedChecked(embedder, ["a"], { ...document, signal: controller.signal })).rejects.toMatchObject({
      code: "ABORTED",
    });
  });

  it("[Q11] sends nothing more once the signal is raised, and tells a timeout from an abort", async () => {
    const controller = new AbortController();
    const reason = new DOMException("late", "TimeoutError");
    const embedder = createHashEmbedder({ before: () => controller.abort(reason) });
    const call = embedChecked(embedder, ["a", "b"], { ...document, textsPerCall: 1, signal: controller.signal });
    await expect(call).rejects.toMatchObject({ code: "TIMEOUT" });
    await expect(embedChecked(embedder, ["a"], { ...document, signal: controller.signal })).rejects.toMatchObject({
      code: "TIMEOUT",
    });
    expect(embedder.calls).toHaveLength(1);
  });

  it("[Q11] sends nothing when the signal was raised while texts were checked", async () => {
    const controller = new AbortController();
    const countAndAbort = (): number => {
      controller.abort();
      return 1;
    };
    const double = createHashEmbedder();
    const embedder = { ...double, countTokens: countAndAbort };
    const call = embedChecked(embedder, ["a"], { ...document, signal: controller.signal });
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    expect(double.calls).toEqual([]);
  });

  it.each([0, -1, 1.5, Number.NaN])("refuses %s texts a call", async (textsPerCall) => {
    const call = embedChecked(createHashEmbedder(), ["a"], { ...document, textsPerCall });
    await expect(call).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("embedEach", () => {
  const codes = (outcomes: Awaited<ReturnType<typeof embedEach>>): readonly string[] =>
    outcomes.map((outcome) => ("error" in outcome ? outcome.error.code : "vector"));

  it("[S7] [M8] embeds all but the poison texts, wherever they are", async () => {
    const embedder = createHashEmbedder({
      before: (texts) => {
        if (texts.some((text) => text.startsWith("poison")))
          throw Object.assign(new Error("bad input"), { status: 400 });
      },
    });
    const texts = Array.from({ length: 40 }, (_, index) =>
      [0, 1, 17, 39].includes(index) ? `poison ${index}` : `text ${index}`,
    );
    const outcomes = await embedEach(embedder, texts, { ...document, textsPerCall: 16 });
    const failed = [...outcomes.keys()].filter(
      (position) => outcomes[position] !== undefined && "error" in outcomes[position],
    );
    expect(failed).toEqual([0, 1, 17, 39]);
    const [alone] = await embedChecked(embedder, ["text 18"], document);
    expect(outcomes[18]).toEqual({ vector: alone });
  });

  it("[S7] answers texts that were refused before the call beside those that were embedded", async () => {
    const embedder = createHashEmbedder({ maxTokens: 2 });
    const outcomes = await embedEach(embedder, ["a", "", "b c d", "e"], document);
    expect(codes(outcomes)).toEqual(["vector", "INVALID_TEXT", "LIMIT_EXCEEDED", "vector"]);
    expect(embedder.calls).toEqual([["a", "e"]]);
  });

  it("[S7] answers a bad vector for its own text, at the caller's position", async () => {
    const embedder = answering((texts) => texts.map((text) => (text === "zero" ? [0, 0] : [1, 2])));
    const outcomes = await embedEach(embedder, ["", "a", "zero", "b"], document);
    expect(codes(outcomes)).toEqual(["INVALID_TEXT", "vector", "EMBEDDING_FAILED", "vector"]);
    expect(outcomes[2]).toMatchObject({ error: { details: { position: 2 } } });
  });

  it.each([
    Object.assign(new Error("too many"), { statusCode: 429 }),
    Object.assign(new TypeError("fetch failed"), {
      cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }),
    }),
  ])("[S7] fails a batch with one call when the service is not there: %s", async (error) => {
    const embedder = createHashEmbedder({ before: () => Promise.reject(error) });
    expect(codes(await embedEach(embedder, ["a", "b", "c", "d"], document))).toEqual(Array(4).fill("EMBEDDING_FAILED"));
    expect(embedder.calls).toHaveLength(1);
  });

  it("[S7] answers every text when the embedder cannot be opened", async () => {
    const embedder = { ...createHashEmbedder(), open: () => Promise.reject(new Error("no model")) };
    expect(codes(await embedEach(embedder, ["a", "b"], document))).toEqual(["EMBEDDING_FAILED", "EMBEDDING_FAILED"]);
  });

  it("[Q11] raises when the caller has gone: there is nobody to answer", async () => {
    const controller = new AbortController();
    const embedder = createHashEmbedder({ before: () => controller.abort() });
    const call = embedEach(embedder, ["a", "b"], { ...document, signal: controller.signal });
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
  });
});

describe("the hash embedder of these tests", () => {
  const cosine = (left: Float32Array, right: Float32Array): number =>
    left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);

  it("puts texts with shared words nearer and another model elsewhere", async () => {
    const [a, b, c] = await embedChecked(
      createHashEmbedder({ dimensions: 256 }),
      ["the red house", "a red house", "seven blue ships"],
      document,
    );
    const [other] = await embedChecked(
      createHashEmbedder({ dimensions: 256, model: "hash-2" }),
      ["the red house"],
      document,
    );
    if (a === undefined || b === undefined || c === undefined || other === undefined) throw new Error("four vectors");
    expect(cosine(a, b)).toBeGreaterThan(0.4);
    expect(Math.abs(cosine(a, c))).toBeLessThan(0.3);
    expect(Math.abs(cosine(a, other))).toBeLessThan(0.3);
    expect(cosine(a, a)).toBeCloseTo(1, 5);
  });
});
