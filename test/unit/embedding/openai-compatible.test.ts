import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { embedEach } from "../../../src/embedding/each.ts";
import { identityText } from "../../../src/embedding/identity.ts";
import { delayMs, HttpStatusError, retryAfterMs } from "../../../src/embedding/providers/http-retry.ts";
import {
  type OpenAiCompatibleOptions,
  openAiCompatibleEmbedder,
} from "../../../src/embedding/providers/openai-compatible.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { type EmbeddingServer, type ServerMode, startEmbeddingServer } from "../../doubles/embedding-server.ts";

let server: EmbeddingServer;

beforeEach(async () => {
  server = await startEmbeddingServer();
});

afterEach(() => server.close());

function embedder(options: Partial<OpenAiCompatibleOptions> = {}) {
  const { baseUrl, dimensions } = server;
  return openAiCompatibleEmbedder({
    baseUrl,
    model: "model-1",
    dimensions,
    maxRetries: 0,
    apiKey: "sk-secret",
    ...options,
  });
}

const document = { kind: "document" } as const;

describe("an OpenAI-compatible embedder", () => {
  it.each(["ok", "base64", "shuffled"] as const)("answers one vector a text in their order: %s", async (mode) => {
    const texts = ["tea", "bread", "snow"];
    const expected = await embedder().embed(texts, document);
    server.mode = mode;
    expect(await embedder().embed(texts, document)).toEqual(expected);
    expect(new Set(expected.map(String)).size).toBe(3);
    expect(await embedder({ model: "model-2" }).embed(["tea"], document)).not.toEqual(expected.slice(0, 1));
    expect(server.headers[0]?.authorization).toBe("Bearer sk-secret");
  });

  it("cuts batches by texts and by tokens, several at the same time, and puts templates around", async () => {
    const texts = Array.from({ length: 10 }, (_, n) => `${"word ".repeat(n)}end`);
    await embedder({ textsPerCall: 4 }).embed(texts, document);
    expect(server.requests.map(({ length }) => length).sort()).toEqual([2, 4, 4]);
    const before = server.requests.length;
    const countTokens = (text: string) => text.split(" ").length;
    await embedder({ tokensPerCall: 12, countTokens, concurrency: 1 }).embed(texts, document);
    for (const request of server.requests.slice(before))
      expect(request.length === 1 || request.reduce((sum, text) => sum + countTokens(text), 0) <= 12).toBe(true);
    await embedder({ templates: { query: "query: {text}" } }).embed(["tea"], { kind: "query" });
    expect(server.requests.at(-1)).toEqual(["query: tea"]);
  });

  it.each([
    ["down", 503],
    ["busy", 429],
  ] as const)("repeats what may succeed later, as long as it is told to: %s", async (mode, status) => {
    server.mode = mode;
    const waiting = embedder({ maxRetries: 20 }).embed(["tea"], document);
    await expect.poll(() => server.requests.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(2);
    server.mode = "ok";
    expect(await waiting).toHaveLength(1);
    server.mode = mode;
    await expect(embedder().embed(["tea"], document)).rejects.toMatchObject({ status });
  });

  it("does not repeat what will not succeed, and says what to do without key and text", async () => {
    for (const [mode, says] of [
      ["unauthorized", /status 401 \(invalid_api_key\)\. Check the API key/],
      ["redirect", /status 307/],
      ["wrong-count", /2 embeddings for 3 texts/],
      ["twice", /to one twice/],
      ["no-json", /no list of embeddings/],
      ["endless", /more than \d+ bytes/],
    ] as const satisfies readonly (readonly [ServerMode, RegExp])[]) {
      server.mode = mode;
      const before = server.requests.length;
      const failed = await embedder({ maxRetries: 3 })
        .embed(["tea", "bread", "snow"], document)
        .catch((error) => error);
      expect(failed.message).toMatch(says);
      expect(`${failed.message} ${failed.stack} ${JSON.stringify(failed)}`).not.toMatch(/sk-secret|bread/);
      expect(server.requests.length - before, mode).toBe(1);
    }
  });

  it("ends a request that takes too long, and with its caller", async () => {
    server.mode = "hang";
    await expect(embedder({ timeoutMs: 50 }).embed(["tea"], document)).rejects.toThrow(/timeout/);
    const controller = new AbortController();
    const waiting = embedder().embed(["tea"], { ...document, signal: controller.signal });
    await expect.poll(() => server.requests.length).toBe(2);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("[S7] a text that the service refuses is found by halving; the others are embedded", async () => {
    server.mode = "poison";
    const texts = Array.from({ length: 16 }, (_, n) => (n === 5 ? "poison" : `text ${n}`));
    const outcomes = await embedEach(embedder(), texts, document);
    expect(outcomes.map((outcome) => "vector" in outcome)).toEqual(texts.map((text) => text !== "poison"));
  });

  it("[M1] has an identity of host, model and size asked for; no key, whatever the spelling of the URL", () => {
    const texts = ["http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080"].map((baseUrl) =>
      identityText(embedder({ baseUrl, apiKey: `sk-${baseUrl.length}` })),
    );
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).not.toContain("sk-");
    expect(identityText(embedder({ requestDimensions: true }))).not.toBe(identityText(embedder()));
    const named = ["http://127.0.0.1:8080/v1", "http://127.0.0.1:9090/v1"].map((baseUrl) =>
      identityText(embedder({ baseUrl, endpoint: "models.internal" })),
    );
    expect(new Set(named).size).toBe(1);
    expect(named[0]).not.toBe(texts[0]);
  });

  it.each([
    ["no URL", { baseUrl: "api.openai.com" }],
    ["a key in the URL", { baseUrl: "https://me:sk-secret@host/v1" }],
    ["an endpoint that is none", { endpoint: "ftp://host" }],
    ["a query in the URL", { baseUrl: "https://host/v1?api-version=1" }],
    ["a misspelt option", { maxRetrys: 9 } as object],
    ["no model", { model: "" }],
    ["no dimensions", { dimensions: 0 }],
    ["a template without its place", { templates: { query: "query" } }],
    ["tokens without a counter", { tokensPerCall: 10 }],
    ["no time", { timeoutMs: 0 }],
  ])("[V14] with %s is refused at once", (_, options) => {
    expect(() => embedder(options)).toThrowError(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    expect(() => embedder(options)).not.toThrow(/sk-secret/);
  });

  it("waits as long as the service asks, but neither not at all nor for hours", () => {
    const asked = (ms: number | undefined, attempt: number) =>
      delayMs(new HttpStatusError(429, undefined, ms), attempt);
    expect(asked(7_000, 0)).toBe(7_000);
    expect(asked(0, 19)).toBeGreaterThanOrEqual(250);
    expect(asked(86_400_000, 0)).toBe(60_000);
    expect(asked(undefined, 19)).toBeGreaterThanOrEqual(15_000);
    expect(asked(undefined, 19)).toBeLessThanOrEqual(30_000);
  });

  it("reads Retry-After in seconds and as a date", () => {
    expect(retryAfterMs("2")).toBe(2_000);
    expect(retryAfterMs(new Date(Date.now() + 60_000).toUTCString())).toBeGreaterThan(57_000);
    expect([retryAfterMs(null), retryAfterMs(""), retryAfterMs("soon")]).toEqual([undefined, undefined, undefined]);
    expect(retryAfterMs("-5")).toBe(0);
  });
});

describe("a memory whose service fails", () => {
  const modes: readonly ServerMode[] = [
    "down",
    "hang",
    "cut",
    "redirect",
    "unauthorized",
    "busy",
    "no-json",
    "wrong-count",
    "wrong-dimensions",
    "nan",
    "endless",
  ];

  it.each(modes)(
    "[S7] %s: the event is kept and found by words, nothing fake is stored, and it is embedded later",
    async (mode) => {
      // Only a call that hangs is to end by its time: a busy machine is slow too.
      const patience = mode === "hang" ? { timeoutMs: 2_000 } : {};
      const memory = await openMemory({ inMemory: true, embedder: embedder(patience) });
      const session = await memory.createSession("a");
      await session.remember({ id: "before", text: "tea is warm" });
      server.mode = mode;
      expect(await session.remember({ id: "e", text: "Lisbon is sunny" })).toMatchObject({
        created: true,
        embedded: "pending",
      });
      expect((await memory.stats()).vectors).toBe(1);
      const found = (await memory.recall("Lisbon", { channels: ["text"] })).hits;
      expect(found).toMatchObject([{ event: "e", channels: ["text"] }]);
      server.mode = "ok";
      await memory.embedPending();
      expect(await memory.stats()).toMatchObject({ vectors: 2, pending: { waiting: 0, parked: 0 } });
      const hit = (await memory.recall("Lisbon is sunny")).hits.find(({ event }) => event === "e");
      expect(hit?.channels).toEqual(["vector", "text"]);
      await memory.close();
    },
  );
});
