import { type MessagePort, workerData } from "node:worker_threads";
import { replyTo, type WorkerRequest, type WorkerStart } from "../../io/workers.ts";
import type { ModelManifest } from "./minilm-model.ts";
import { importPackage } from "./packages.ts";

interface Engine {
  embed(texts: string[]): Promise<number[][]>;
}

/** Shape of `texts` × dimensions, row by row: one buffer crosses threads faster than many. */
export interface EmbeddedRows {
  readonly rows: Float32Array;
}

const { port, settings } = workerData as WorkerStart;
let engine: Promise<Engine> | undefined;
let working: Promise<void> = Promise.resolve();

// One call at a time, in order: the engine is single-threaded, and the end waits for what came before.
port.on("message", (request: WorkerRequest | null) => {
  if (request === null) {
    void working.then(() => port.close());
    return;
  }
  if (request.type === "call") working = working.then(() => answer(port, request.id, request.input as string[]));
});

async function answer(to: MessagePort, id: number, texts: string[]): Promise<void> {
  try {
    engine ??= loadEngine(settings as ModelManifest);
    replyTo(to, id, { value: toRows(await (await engine).embed(texts)) });
  } catch (error) {
    replyTo(to, id, { error });
  }
}

async function loadEngine(model: ModelManifest): Promise<Engine> {
  const { createEmbedder } = await importPackage("@lat.md/embed", () => import("@lat.md/embed"));
  return createEmbedder({ model });
}

function toRows(vectors: readonly (readonly number[])[]): EmbeddedRows {
  const dimensions = vectors[0]?.length ?? 0;
  const rows = new Float32Array(vectors.length * dimensions);
  for (const [index, vector] of vectors.entries()) rows.set(vector, index * dimensions);
  return { rows };
}
