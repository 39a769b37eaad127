import { createUnsteadyEmbedder, type UnsteadyEmbedder } from "../../doubles/unsteady-embedder.ts";
import { fillFolder } from "./archive-worlds.ts";
import { holdRetries, type MemoryBed, openMemoryBed } from "./memories.ts";

type BedOptions = NonNullable<Parameters<typeof openMemoryBed>[0]>;

/** A folder that nothing was written to, in which nothing is embedded by itself. */
export async function openTarget(options: BedOptions = {}): Promise<MemoryBed> {
  const bed = await openMemoryBed({ embedder: createUnsteadyEmbedder({ dimensions: 16 }), ...options });
  holdRetries(bed.raw);
  return bed;
}

/** A folder with everything that one can hold. */
export async function openWorld(seed: number, options: BedOptions = {}): Promise<MemoryBed> {
  const bed = await openTarget({
    properties: { topic: "string", year: "float", when: "datetime" },
    segmenter: "sentences",
    summarise: ({ previous = "", events }) =>
      `${previous}|${events.map(({ id, text }) => `${id} of ${text.length}`).join("|")}`,
    ...options,
  });
  await fillFolder(bed.memory, bed.embedder as UnsteadyEmbedder, seed);
  return bed;
}

/** A small folder: one event of each kind that lines tell apart. */
export async function openSmallWorld(): Promise<MemoryBed> {
  const bed = await openTarget({ summarise: () => "a summary" });
  const session = await bed.memory.createSession("chat", { user: "alice" });
  await session.remember({
    id: "e1",
    text: "I moved to Lisbon.",
    at: "2026-05-01T14:00:00+02:00",
    properties: { n: 1 },
  });
  await session.remember({ id: "e2", text: "I like green tea.", at: "2026-05-02T12:00:00Z" });
  await session.updateEvent("e1", { text: "I moved to Porto." });
  await session.updateSummary({ keepEvents: 0 });
  return bed;
}
