import { WorkerChannel } from "../../io/workers.ts";
import type { EmbeddingThread } from "./embedding-queue.ts";
import type { EmbeddedRows } from "./serve-embedding.ts";

export interface ThreadStart {
  /** A module that calls `serveEmbedding`. */
  readonly worker: URL;
  /** What it loads its model with. */
  readonly settings: unknown;
  /** Native code: ending its thread in the middle of a call aborts the process, so that its end is waited for. */
  readonly isNative: boolean;
}

/** Starts a thread that embeds; `onGone` is told when it ended by itself. */
export function startEmbeddingThread({ worker, settings, isNative }: ThreadStart, onGone: () => void): EmbeddingThread {
  const channel = new WorkerChannel(worker, "embedder", settings, onGone);
  return {
    async embed(texts) {
      const { rows } = (await channel.call({ name: "embed", input: [...texts] })) as EmbeddedRows;
      const width = rows.length / texts.length;
      return texts.map((_, index) => rows.slice(index * width, (index + 1) * width));
    },
    end: () => channel.end(),
    terminate: async () => {
      if (!isNative) await channel.terminate();
    },
  };
}
