import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the server does with a request. */
export type ServerMode =
  | "ok"
  | "base64"
  | "shuffled"
  | "down"
  | "hang"
  | "cut"
  | "redirect"
  | "unauthorized"
  | "busy"
  | "no-json"
  | "wrong-count"
  | "wrong-dimensions"
  | "nan"
  | "twice"
  | "endless"
  | "poison";

export interface EmbeddingServer {
  readonly baseUrl: string;
  readonly dimensions: number;
  mode: ServerMode;
  /** Texts of each request, in order. */
  readonly requests: readonly (readonly string[])[];
  readonly headers: readonly IncomingMessage["headers"][];
  close(): Promise<void>;
}

const DIMENSIONS = 16;

/** An OpenAI-compatible endpoint on loopback; its vectors depend on the text and the model. */
export async function startEmbeddingServer(): Promise<EmbeddingServer> {
  const requests: (readonly string[])[] = [];
  const headers: IncomingMessage["headers"][] = [];
  const state: { mode: ServerMode } = { mode: "ok" };
  const server = createServer((request, response) => {
    void readJson(request).then(({ model, input }) => {
      requests.push(input);
      headers.push(request.headers);
      answer(state.mode, response, { model, input });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    dimensions: DIMENSIONS,
    requests,
    headers,
    get mode() {
      return state.mode;
    },
    set mode(mode) {
      state.mode = mode;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Asked {
  readonly model: string;
  readonly input: readonly string[];
}

async function readJson(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as Asked;
}

function answer(mode: ServerMode, response: ServerResponse, { model, input }: Asked): void {
  const vectors = input.map((text) => vectorOf(text, model));
  const data = vectors.map((embedding, index) => ({ object: "embedding", index, embedding }));
  const fail = (status: number, type: string, headers: Record<string, string> = {}): void => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ error: { type, message: `refused: ${input.join()} with key sk-secret` } }));
  };
  const send = (items: readonly unknown[]): void => {
    response.writeHead(200, { "content-type": "application/json" });
    // JSON has no NaN; some servers write it all the same.
    response.end(JSON.stringify({ object: "list", model, data: items }).replaceAll('"NaN"', "NaN"));
  };
  switch (mode) {
    case "base64":
      send(
        data.map((item, index) => ({
          ...item,
          embedding: Buffer.from(Float32Array.from(vectors[index] ?? []).buffer).toString("base64"),
        })),
      );
      return;
    case "shuffled":
      send([...data].reverse());
      return;
    case "down":
      fail(503, "overloaded");
      return;
    case "hang":
      return;
    case "cut":
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"data": [');
      response.destroy();
      return;
    case "redirect":
      response.writeHead(307, { location: "http://127.0.0.1:9/elsewhere" });
      response.end();
      return;
    case "unauthorized":
      fail(401, "invalid_api_key");
      return;
    case "busy":
      fail(429, "rate_limit_exceeded", { "retry-after": "0" });
      return;
    case "no-json":
      response.end("<html>");
      return;
    case "wrong-count":
      send(data.slice(1));
      return;
    case "wrong-dimensions":
      send(data.map((item) => ({ ...item, embedding: [...item.embedding, 1] })));
      return;
    case "nan":
      send(data.map((item) => ({ ...item, embedding: item.embedding.map(() => "NaN") })));
      return;
    case "twice":
      send(data.map((item) => ({ ...item, index: 0 })));
      return;
    case "endless":
      response.writeHead(200, { "content-type": "application/json" });
      response.end(`{"data": [], "padding": "${"x".repeat(8 * 1024 * 1024)}"}`);
      return;
    case "poison":
      if (input.some((text) => text.includes("poison"))) fail(400, "invalid_input");
      else send(data);
      return;
    default:
      send(data);
  }
}

function vectorOf(text: string, model: string): number[] {
  const bytes = createHash("sha256").update(`${model}\n${text}`).digest();
  return Array.from({ length: DIMENSIONS }, (_, index) => ((bytes[index] ?? 0) - 127.5) / 128);
}
