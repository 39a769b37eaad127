import { LIMITS } from "../../contract/limits.ts";
import { assertOptions, type OptionNames } from "../../contract/option-names.ts";
import { HoldfastError } from "../../errors/index.ts";
import { anySignal } from "../../io/signals.ts";
import { abortError } from "../abort.ts";
import { assertEmbedder } from "../assert-embedder.ts";
import type { Embedder, EmbedOptions } from "../embedder.ts";
import { AnswerError, HttpStatusError, retryAfterMs, withRetries } from "./http-retry.ts";
import { applyTemplate, assertTemplates, countAsSent, inGroups, type TextTemplates } from "./text-groups.ts";

export interface OpenAiCompatibleOptions {
  /** Up to and with the version, such as `https://api.openai.com/v1` or `http://localhost:11434/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /**
   * Host that stands for the service in the identity; default that of `baseUrl`, with its port. Give a name of your own
   * where the address changes and the model does not, such as a port of this machine.
   */
  readonly endpoint?: string;
  /** Length of the vectors that the model gives, or is asked for. */
  readonly dimensions: number;
  /** Sent as a bearer token; a function is asked before each call. Never kept, logged or part of the identity. */
  readonly apiKey?: string | (() => string | Promise<string>);
  /** Asks the service for `dimensions`; only models that can shorten their vectors take it. Default false. */
  readonly requestDimensions?: boolean;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Texts around what is embedded, with `{text}` in them, such as `query: {text}`. */
  readonly templates?: TextTemplates;
  /** The model's window; texts are cut to it when `countTokens` is given too. */
  readonly maxTokens?: number;
  readonly countTokens?: (text: string) => number;
  /** Texts of one request at most, 1…2,048; default 64. */
  readonly textsPerCall?: number;
  /** Tokens of one request at most, as `countTokens` counts them. */
  readonly tokensPerCall?: number;
  /** How long one request may take, in ms; default 30,000. */
  readonly timeoutMs?: number;
  /** How often a request is repeated, 0…20; default 4. */
  readonly maxRetries?: number;
  /** Requests at the same time, 1…64; default 2. */
  readonly concurrency?: number;
}

const OPTION_NAMES: OptionNames<OpenAiCompatibleOptions> = {
  baseUrl: true,
  model: true,
  endpoint: true,
  dimensions: true,
  apiKey: true,
  requestDimensions: true,
  headers: true,
  templates: true,
  maxTokens: true,
  countTokens: true,
  textsPerCall: true,
  tokensPerCall: true,
  timeoutMs: true,
  maxRetries: true,
  concurrency: true,
};

/** Beside the numbers: keys, white space, usage. */
const ANSWER_BYTES = 1024 * 1024;
/** A float32 in JSON with all its digits, a separator and some room. */
const BYTES_PER_COMPONENT = 32;

/**
 * Any endpoint that speaks OpenAI's `POST /embeddings`: OpenAI, Ollama, vLLM, LM Studio and others. Repeats what may
 * succeed later; a text that a service refuses is found by halving its batch.
 *
 * @throws INVALID_ARGUMENT for options that cannot work
 */
export function openAiCompatibleEmbedder(options: OpenAiCompatibleOptions): Embedder {
  const settings = checkSettings(options);
  const { baseUrl, model, dimensions, templates, maxTokens, countTokens } = settings;
  const made: Embedder = {
    identity: {
      provider: "openai-compatible",
      model,
      endpoint: settings.endpoint ?? baseUrl.href,
      ...(settings.requestDimensions && { requestedDimensions: dimensions }),
      ...(templates && { templates }),
    },
    dimensions,
    ...(maxTokens !== undefined && { maxTokens }),
    ...(countTokens !== undefined && { countTokens: countAsSent(countTokens, templates) }),
    embed: (texts, call) => new EmbeddingCall(settings, call).embed(texts),
  };
  assertEmbedder(made);
  return made;
}

type Settings = ReturnType<typeof checkSettings>;

class EmbeddingCall {
  readonly #settings: Settings;
  readonly #options: EmbedOptions;
  readonly #signal: AbortSignal;

  constructor(settings: Settings, options: EmbedOptions) {
    this.#settings = settings;
    this.#options = options;
    this.#signal = options.signal ?? new AbortController().signal;
  }

  async embed(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const { templates, concurrency, maxRetries } = this.#settings;
    const inputs = texts.map((text) => applyTemplate(templates?.[this.#options.kind], text));
    const groups = inGroups(inputs, this.#settings);
    const answers: Float32Array[][] = [];
    let next = 0;
    // The first failure ends the others: what they would bring is thrown away, and paid for.
    const failed = new AbortController();
    const signal = anySignal([this.#signal, failed.signal]);
    const work = async (): Promise<void> => {
      for (let index = next++; index < groups.length && !signal.aborted; index = next++) {
        const group = groups[index] ?? [];
        answers[index] = await withRetries(() => this.#request(group, signal), { retries: maxRetries, signal });
      }
    };
    try {
      await Promise.all(Array.from({ length: Math.min(concurrency, groups.length) }, work));
    } catch (error) {
      failed.abort();
      if (this.#signal.aborted) throw abortError(this.#signal);
      throw error;
    }
    return answers.flat();
  }

  async #request(input: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const { baseUrl, model, dimensions, requestDimensions, headers, apiKey, timeoutMs } = this.#settings;
    const key = typeof apiKey === "function" ? await apiKey() : apiKey;
    const response = await fetch(new URL("embeddings", baseUrl), {
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        accept: "application/json",
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ model, input, encoding_format: "float", ...(requestDimensions && { dimensions }) }),
      // A key is for the host that it was given for.
      redirect: "manual",
      signal: anySignal([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const bytesMax = ANSWER_BYTES + input.length * dimensions * BYTES_PER_COMPONENT;
    const body = await readBody(response, bytesMax);
    if (!response.ok)
      throw new HttpStatusError(response.status, reasonOf(body), retryAfterMs(response.headers.get("retry-after")));
    return toVectors(body, input.length);
  }
}

/** At most so many bytes: an endless answer is not read to its end. */
async function readBody(response: Response, bytesMax: number): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new AnswerError(`The service answered more than ${bytesMax} bytes.`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Only a name: a message may quote the text, or the key. */
function reasonOf(body: unknown): string | undefined {
  const error = (body as { readonly error?: { readonly code?: unknown; readonly type?: unknown } } | undefined)?.error;
  return [error?.code, error?.type].find(
    (name): name is string => typeof name === "string" && /^[a-z]+(?:_[a-z]+){0,7}$/.test(name),
  );
}

/** In the order of the texts, whatever order the service answers in. */
function toVectors(body: unknown, count: number): Float32Array[] {
  const data: unknown = (body as { readonly data?: unknown } | undefined)?.data;
  if (!Array.isArray(data)) throw new AnswerError("The service answered no list of embeddings.");
  if (data.length !== count)
    throw new AnswerError(`The service answered ${data.length} embeddings for ${count} texts.`);
  const vectors: Float32Array[] = [];
  for (const [place, item] of data.entries()) {
    const { index = place, embedding } = (item ?? {}) as { readonly index?: unknown; readonly embedding?: unknown };
    if (
      !(Number.isInteger(index) && Number(index) >= 0 && Number(index) < count) ||
      vectors[Number(index)] !== undefined
    )
      throw new AnswerError("The service answered embeddings that belong to no text, or to one twice.");
    vectors[Number(index)] = toVector(embedding);
  }
  return vectors;
}

/** A list of numbers, or little-endian float32 in base64. */
function toVector(embedding: unknown): Float32Array {
  if (Array.isArray(embedding) && embedding.every((value) => typeof value === "number"))
    return Float32Array.from(embedding);
  if (typeof embedding === "string") {
    const bytes = Buffer.from(embedding, "base64");
    if (bytes.byteLength > 0 && bytes.byteLength % 4 === 0)
      return Float32Array.from({ length: bytes.byteLength / 4 }, (_, index) => bytes.readFloatLE(index * 4));
  }
  throw new AnswerError("The service answered an embedding that is no list of numbers.");
}

function checkSettings(options: OpenAiCompatibleOptions) {
  assertOptions(options, OPTION_NAMES, "openAiCompatibleEmbedder");
  const { model, dimensions, templates } = options;
  if (typeof model !== "string" || model === "") throw invalid("model names the embedding model.");
  assertWhole(dimensions, { name: "dimensions", from: 1, to: LIMITS.dimensionsMax });
  if (templates !== undefined) assertTemplates(templates);
  const {
    textsPerCall = 64,
    timeoutMs = 30_000,
    maxRetries = 4,
    concurrency = 2,
    tokensPerCall,
    countTokens,
  } = options;
  assertWhole(textsPerCall, { name: "textsPerCall", from: 1, to: 2_048 });
  assertWhole(timeoutMs, { name: "timeoutMs", from: 1, to: 600_000 });
  assertWhole(maxRetries, { name: "maxRetries", from: 0, to: 20 });
  assertWhole(concurrency, { name: "concurrency", from: 1, to: 64 });
  if (tokensPerCall !== undefined && countTokens === undefined)
    throw invalid("tokensPerCall needs countTokens: tokens are counted and not guessed.");
  const requestDimensions = options.requestDimensions === true;
  return {
    ...options,
    baseUrl: toBaseUrl(options.baseUrl),
    textsPerCall,
    timeoutMs,
    maxRetries,
    concurrency,
    requestDimensions,
  };
}

function toBaseUrl(text: unknown): URL {
  try {
    const url = new URL(String(text));
    if (url.username !== "" || url.password !== "") throw invalid("Give the key as apiKey, not inside baseUrl.");
    if (url.protocol === "http:" || url.protocol === "https:") {
      if (url.search !== "" || url.hash !== "") throw invalid("baseUrl has no query: send what it says in headers.");
      if (!url.pathname.endsWith("/")) url.pathname += "/";
      return url;
    }
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
  }
  // Not repeated: a malformed URL may hold a secret.
  throw invalid("baseUrl is an http or https URL such as https://api.openai.com/v1.");
}

function assertWhole(value: unknown, { name, from, to }: { name: string; from: number; to: number }): void {
  if (Number.isInteger(value) && Number(value) >= from && Number(value) <= to) return;
  throw invalid(`${name} is a whole number from ${from} to ${to}.`);
}

function invalid(message: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", message);
}
