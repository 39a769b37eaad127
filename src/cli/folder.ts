import { join } from "node:path";
import { DATABASE_FILE } from "../database/open-files.ts";
import { HoldfastError } from "../errors/index.ts";
import type { Memory } from "../index.ts";
import { exists } from "../io/disk.ts";
import type { Surroundings } from "./surroundings.ts";

/** `existing` for commands that only ask: a mistyped path is an error, not a new and empty memory. */
export type FolderUse = "existing" | "create";

/** Opens the folder for `work` and closes it afterwards, whatever happened. */
export async function withMemory(
  surroundings: Surroundings,
  path: string,
  use: FolderUse,
  work: (memory: Memory) => Promise<void>,
): Promise<void> {
  if (use === "existing" && !exists(join(path, DATABASE_FILE))) {
    const message = `There is no memory at ${path}; make one with "holdfast remember" or "holdfast import", or name another folder with --path.`;
    throw new HoldfastError("NOT_FOUND", message, { details: { path } });
  }
  const memory = await surroundings.openMemory(path);
  try {
    await work(memory);
  } finally {
    await memory.close();
  }
}
