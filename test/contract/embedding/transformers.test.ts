import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { embedChecked } from "../../../src/embedding/checked.ts";
import type { Embedder } from "../../../src/embedding/embedder.ts";
import type { TransformersOptions } from "../../../src/embedding/providers/transformers.ts";
import { type InstalledPackage, installPackage } from "../../doubles/installed-package.ts";
import { writeModelFolder } from "../../doubles/model-folder.ts";

/**
 * The real package needs 475 MB: a double stands for it, unless HOLDFAST_TRANSFORMERS names a folder with it and
 * HOLDFAST_TRANSFORMERS_MODEL a model with the tokenizer of MiniLM and a window of 256.
 */
const PACKAGE =
  process.env.HOLDFAST_TRANSFORMERS ?? fileURLToPath(new URL("../../doubles/packages/transformers", import.meta.url));
const REAL_MODEL = process.env.HOLDFAST_TRANSFORMERS_MODEL;

type Provider = typeof import("../../../src/embedding/providers/transformers.ts");

const document = { kind: "document" } as const;
const words = (count: number): string => "word ".repeat(count).trim();

let installed: InstalledPackage;
let folder: string;
let make: Provider["transformersEmbedder"];

function modelFolder(name: string, weights?: Readonly<Record<string, string>>): string {
  const path = join(folder, name);
  if (REAL_MODEL === undefined) writeModelFolder(path, weights);
  else cpSync(REAL_MODEL, path, { recursive: true });
  return path;
}

const open = (options: Partial<TransformersOptions> = {}): Promise<Embedder> =>
  make({ model: join(folder, "minilm"), pooling: "mean", ...options });

const identityOf = async (options: Partial<TransformersOptions> = {}): Promise<Embedder["identity"]> =>
  (await open(options)).identity;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-models-"));
  installed = installPackage({ "@huggingface/transformers": PACKAGE });
  const provider = new URL("embedding/providers/transformers.js", installed.dist);
  make = ((await import(provider.href)) as Provider).transformersEmbedder;
  modelFolder("minilm");
});

afterAll(() => {
  installed.remove();
  rmSync(folder, { recursive: true, force: true });
});

describe("a model of transformers.js", () => {
  it("answers one vector a text in their order, of norm 1, whatever texts come with it", async () => {
    const embedder = await open();
    const texts = Array.from({ length: 40 }, (_, index) => `note ${index} ${words(index)}`);
    const all = await embedder.embed(texts, document);
    const [alone] = await embedder.embed([texts[37] ?? ""], { kind: "query" });
    expect(all).toHaveLength(40);
    expect(all[37]).toEqual(alone);
    expect(new Set(all.map(String)).size).toBe(40);
    for (const vector of all) expect(Math.hypot(...vector)).toBeCloseTo(1, 4);
    expect(all[0]).toHaveLength(embedder.dimensions);
    await embedder.close?.();
  });

  it("makes one vector of a text's tokens in each way that models are trained with", async () => {
    const vectors: string[] = [];
    for (const pooling of ["mean", "cls", "last"] as const) {
      const embedder = await open({ pooling });
      vectors.push(...(await embedder.embed(["green tea with milk"], document)).map(String));
      await embedder.close?.();
    }
    expect(new Set(vectors).size).toBe(3);
  });

  it("does not scale vectors where it is told so, and puts templates around texts", async () => {
    const plain = await open({ normalize: false });
    const [raw] = await plain.embed(["tea and bread and butter"], document);
    expect(Math.hypot(...(raw ?? []))).toBeGreaterThan(1.01);
    const templates = { query: "query: {text}", document: "passage: {text}" };
    const framed = await open({ templates, normalize: false });
    const [asked] = await framed.embed(["tea"], { kind: "query" });
    const [stored] = await framed.embed(["tea"], document);
    expect(asked).toEqual((await plain.embed(["query: tea"], document))[0]);
    expect(stored).toEqual((await plain.embed(["passage: tea"], document))[0]);
    expect(framed.countTokens?.("tea")).toBe((plain.countTokens?.("tea") ?? 0) + 2);
    expect(framed.countTokens?.("\u200b")).toBe(0);
    await Promise.all([plain.close?.(), framed.close?.()]);
  });

  it("[S3] counts the window with the model's tokenizer: at the limit taken whole, one more is refused and not cut", async () => {
    const embedder = await open();
    expect(embedder.maxTokens).toBe(256);
    const [full, other] = await embedder.embed([`${words(253)} zebra`, `${words(253)} mango`], document);
    expect(full).not.toEqual(other);
    await expect(embedder.embed(["fine", `${words(254)} zebra`], document)).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      details: { position: 1, tokens: 257, tokensMax: 256 },
    });
    const templated = await open({ templates: { query: "query: {text}" } });
    await expect(templated.embed([`${words(253)} zebra`], { kind: "query" })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      details: { tokens: 258 },
    });
    await Promise.all([embedder.close?.(), templated.close?.()]);
  });

  it("[M1] is identified by its weights, wherever its folder lies, and by how they are used", async () => {
    const identity = await identityOf();
    expect(identity).toMatchObject({ provider: "transformers.js", model: "minilm", normalization: "unit" });
    expect(identity.revision).toMatch(/^sha256:[0-9a-f]{16}$/);
    cpSync(join(folder, "minilm"), join(folder, "elsewhere", "minilm"), { recursive: true });
    expect(await identityOf({ model: `${join(folder, "elsewhere", "minilm")}/` })).toEqual(identity);
    const moved = { model: join(folder, "elsewhere", "minilm") };
    const revisions = [identity.revision];
    for (const file of ["model.onnx_data", "model.onnx"]) {
      writeFileSync(join(moved.model, "onnx", file), "other weights");
      revisions.push((await identityOf(moved)).revision);
    }
    expect(new Set(revisions).size).toBe(3);
    expect(await identityOf({ ...moved, revision: "7", name: "mine" })).toMatchObject({ revision: "7", model: "mine" });
    for (const other of [{ pooling: "cls" }, { normalize: false }, { templates: { query: "q: {text}" } }] as const)
      expect(await identityOf(other)).not.toEqual(identity);
    expect(JSON.stringify(identity)).not.toContain(folder);
  });

  it("[V14] with options or a folder that cannot work is refused at once, and says what would", async () => {
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ model: "" }, /path of the model's folder/],
      [{ model: join(folder, "nowhere") }, /no readable config\.json/],
      [{ pooling: "max" }, /"mean", "cls" or "last"/],
      [{ dtype: "q3" }, /dtype is one of fp32, fp16, q8/],
      [{ dtype: "bnb4" }, /no onnx\/model_bnb4\.onnx, the weights of dtype bnb4; choose dtype fp32/],
      [{ normalize: "yes" }, /normalize/],
      [{ maxTokens: 257 }, /from 1 to 256/],
      [{ dimensions: 0 }, /dimensions/],
      [{ revision: "" }, /revision/],
      [{ templates: { query: "query" } }, /\{text\}/],
      [{ quantized: true }, /no option "quantized"/],
    ];
    for (const [options, says] of cases) {
      const refused = await open(options).catch((error: unknown) => error);
      expect(refused, JSON.stringify(options)).toMatchObject({ code: "INVALID_ARGUMENT" });
      expect(String(refused)).toMatch(says);
    }
  });

  it("[S3] takes the smaller of what the tokenizer and the model say of the window, and asks where neither says", async () => {
    const model = modelFolder("windows");
    const say = (file: string, value: object): void => {
      const path = join(model, file);
      writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), ...value }));
    };
    say("tokenizer_config.json", { model_max_length: 1e30 });
    expect((await open({ model })).maxTokens).toBe(512);
    say("config.json", { max_position_embeddings: 100, hidden_size: 7 });
    expect(await open({ model })).toMatchObject({ maxTokens: 100, dimensions: 7 });
    say("config.json", { max_position_embeddings: null, hidden_size: null });
    await expect(open({ model })).rejects.toThrow(/Give dimensions/);
    await expect(open({ model, dimensions: 7 })).rejects.toThrow(/Give maxTokens/);
    expect(await open({ model, dimensions: 7, maxTokens: 30 })).toMatchObject({ dimensions: 7, maxTokens: 30 });
  });

  it("[E12] ends with its memory: later calls raise CLOSED, and closing twice is free", async () => {
    const embedder = await open();
    const waiting = embedder.embed([words(200)], document).catch((error: unknown) => error);
    await Promise.all([embedder.close?.(), embedder.close?.()]);
    await waiting;
    await expect(embedder.embed(["b"], document)).rejects.toMatchObject({ code: "CLOSED" });
  });
});

/** Runs `program` as a module of its own in a folder where `holdfast` is installed. */
function run(place: InstalledPackage, program: string) {
  const file = join(place.folder, "program.mjs");
  writeFileSync(file, program);
  return spawnSync(process.execPath, [file], { cwd: place.folder, encoding: "utf8", timeout: 60_000 });
}

const start = (options: object): string =>
  `import { transformersEmbedder } from "holdfast";
  const make = () => transformersEmbedder(${JSON.stringify({ model: join(folder, "minilm"), pooling: "mean", ...options })});`;

describe("a program that uses transformers.js", () => {
  it("ends by itself though it forgets close(), and at once in the middle of a call", () => {
    const forgot = run(
      installed,
      `${start({})} console.log((await (await make()).embed(["a"], { kind: "query" })).length);`,
    );
    expect(forgot).toMatchObject({ status: 0, stdout: "1\n", stderr: "" });
    const texts = JSON.stringify(Array.from({ length: 50 }, (_, index) => `${index} ${words(200)}`));
    // A query is answered between the documents: then the thread is at the next of them.
    const left = `const embedder = await make(); void embedder.embed(${texts}, { kind: "document" });
      await embedder.embed(["a"], { kind: "query" }); process.exit(7);`;
    expect(run(installed, `${start({})} ${left}`)).toMatchObject({ status: 7, stderr: "" });
  });

  it("[B6] is told the install command when the package is missing, before anything is remembered", () => {
    const without = installPackage({});
    const ended = run(without, `${start({})} await make().catch((error) => console.log(error.code, error.message));`);
    without.remove();
    expect(ended.stdout).toBe(
      "PACKAGE_MISSING The package @huggingface/transformers is not installed; run: npm install @huggingface/transformers\n",
    );
  });
});

// What only the double can be made to do.
describe("a double of transformers.js", () => {
  it("[S7] that fails for one text serves the next; nothing of the text is printed", () => {
    const program = `${start({})}
      const embedder = await make();
      const failed = await embedder.embed(["FAIL secret"], { kind: "document" }).catch((error) => error);
      console.log(failed.code, (await embedder.embed(["tea"], { kind: "document" })).length);
      await embedder.close();`;
    expect(run(installed, program)).toMatchObject({ stdout: "EMBEDDING_FAILED 1\n", stderr: "" });
  });

  it("[S7] that answers another size than is declared has no vector", async () => {
    const embedder = await open({ dimensions: 63 });
    await expect(embedChecked(embedder, ["tea"], document)).rejects.toMatchObject({ code: "DIMENSION_MISMATCH" });
    await embedder.close?.();
  });

  it("[M1] with other precision is another space", async () => {
    const model = modelFolder("two", {
      "model.onnx": "one",
      "model_quantized.onnx": "two",
      "model.onnx_data_1": "more",
    });
    const [full, small] = await Promise.all([identityOf({ model }), identityOf({ model, dtype: "q8" })]);
    expect(full.revision).not.toBe(small.revision);
    expect([full.options, small.options]).toMatchObject([{ dtype: "fp32" }, { dtype: "q8" }]);
    const embedder = await open({ model, dtype: "q8" });
    expect(await embedder.embed(["tea"], document)).toHaveLength(1);
    await embedder.close?.();
  });
});
