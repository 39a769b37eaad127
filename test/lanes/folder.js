import { openMemory, openStore } from "holdfast";
import { DIMENSIONS, laneEmbedder } from "./embedder.js";

/** Small: partitions take turns in it, and some are streamed. */
const MEMORY_BUDGET_BYTES = 1024 * 1024;

/** One folder with all that the lanes write: a memory and a store. */
export async function openFolder(path, { fails = 0, seed = 1, threads = "workers" } = {}) {
  const memory = await openMemory({
    path,
    threads,
    embedder: laneEmbedder({ fails, seed }),
    properties: { topic: "string" },
    memoryBudgetBytes: MEMORY_BUDGET_BYTES,
    summarise: ({ previous = "", events }) => `${previous}${events.length} more. `.slice(-200),
  });
  const store = await openStore({
    path,
    threads,
    name: "lane",
    dimensions: DIMENSIONS,
    properties: { version: "int" },
    memoryBudgetBytes: MEMORY_BUDGET_BYTES,
  });
  const close = async () => {
    await store.close();
    await memory.close();
  };
  return { memory, store, close };
}
