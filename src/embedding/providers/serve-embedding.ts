import { type MessagePort, workerData } from "node:worker_threads";
import { replyTo, type WorkerRequest, type WorkerStart } from "../../io/workers.ts";

/** A model that is loaded. */
export interface EmbeddingEngine {
  /** One vector a text, in order. */
  embed(texts: readonly string[]): Promise<readonly ArrayLike<number>[]>;
  /** Frees what the model took. */
  close?(): Promise<void>;
}

/** Shape of `texts` × dimensions, row by row: one buffer crosses threads faster than many. */
export interface EmbeddedRows {
  readonly rows: Float32Array;
}

/**
 * The other end of an embedding thread: loads the model with the first call. One call at a time, in order, because
 * engines are single-threaded; the end waits for what came before.
 */
export function serveEmbedding(load: (settings: unknown) => Promise<EmbeddingEngine>): void {
  const { port, settings } = workerData as WorkerStart;
  let engine: Promise<EmbeddingEngine> | undefined;
  let working: Promise<void> = Promise.resolve();
  const answer = async (to: MessagePort, id: number, texts: readonly string[]): Promise<void> => {
    try {
      engine ??= load(settings);
      replyTo(to, id, { value: toRows(await (await engine).embed(texts), texts.length) });
    } catch (error) {
      replyTo(to, id, { error });
    }
  };
  const end = async (): Promise<void> => {
    const loaded = await engine?.catch(() => undefined);
    await loaded?.close?.();
  };
  port.on("message", (request: WorkerRequest | null) => {
    if (request === null) {
      void working
        .then(end)
        .catch(() => undefined)
        .then(() => port.close());
    } else if (request.type === "call") {
      working = working.then(() => answer(port, request.id, request.input as readonly string[]));
    }
  });
}

function toRows(vectors: readonly ArrayLike<number>[], count: number): EmbeddedRows {
  if (vectors.length !== count) throw new Error(`The model answered ${vectors.length} vectors for ${count} texts.`);
  const dimensions = vectors[0]?.length ?? 0;
  const rows = new Float32Array(vectors.length * dimensions);
  for (const [index, vector] of vectors.entries()) rows.set(vector, index * dimensions);
  return { rows };
}
