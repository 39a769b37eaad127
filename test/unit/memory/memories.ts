import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Connection } from "../../../src/database/connection.ts";
import { openConnection } from "../../../src/database/drivers/open-connection.ts";
import { DATABASE_FILE } from "../../../src/database/open-files.ts";
import type { Memory } from "../../../src/memory/contract.ts";
import { type MemoryOptions, openMemory } from "../../../src/open-memory.ts";
import { createHashEmbedder, type HashEmbedder } from "../../doubles/hash-embedder.ts";
import { temporaryFolder } from "../database/connections.ts";

export interface MemoryBed {
  readonly path: string;
  readonly memory: Memory;
  readonly embedder: HashEmbedder;
  /** A connection beside the memory's, through SQLite. */
  readonly raw: Connection;
  count(table: string): number;
}

/** A memory on disk, inline, with an embedder whose vectors follow the words. */
export async function openMemoryBed(
  options: Partial<MemoryOptions> & { readonly embedder?: HashEmbedder } = {},
): Promise<MemoryBed> {
  const path = options.path ?? join(temporaryFolder(), "memory.holdfast");
  const embedder = options.embedder ?? createHashEmbedder();
  const memory = await openMemory({ ...options, path, threads: "inline", embedder });
  const raw = openConnection(join(path, DATABASE_FILE), { readOnly: false, mustExist: true });
  onTestFinished(async () => {
    raw.close();
    await memory.close();
  });
  const count = (table: string): number =>
    Number(raw.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? 0);
  return { path, memory, embedder, raw, count };
}

/** Nothing that is pending is tried by itself for half an hour. */
export function holdRetries(raw: Connection): void {
  raw.prepare("UPDATE embedding_lease SET resume_at = ?").run((Date.now() + 1_800_000) * 1_000);
}
