import { join } from "node:path";
import { DATABASE_FILE } from "../database/open-files.ts";
import { HoldfastError } from "../errors/index.ts";
import type { Memory, Tenant } from "../index.ts";
import { exists } from "../io/disk.ts";
import { type CommonOptions, folderOf } from "./options.ts";
import type { Surroundings } from "./surroundings.ts";

/** `existing` for commands that only ask: a mistyped path is an error, not a new and empty memory. */
export type FolderUse = "existing" | "create";

/** Opens the folder's memory, or one tenant's in it, for `work`; only `create` makes a tenant. */
export async function withTenant(
  surroundings: Surroundings,
  flags: CommonOptions,
  use: FolderUse,
  work: (tenant: Tenant) => Promise<void>,
): Promise<void> {
  await withMemory(surroundings, folderOf(flags), use, async (memory) => {
    await work(flags.tenant === undefined ? memory : await tenantOf(memory, flags.tenant, use));
  });
}

async function tenantOf(memory: Memory, id: string, use: FolderUse): Promise<Tenant> {
  if (use === "create") return memory.createTenant(id);
  const tenant = await memory.getTenant(id);
  if (tenant !== undefined) return tenant;
  const message = `There is no tenant ${JSON.stringify(id)} in this memory; "holdfast tenants" lists them, and "holdfast remember" and "holdfast import" make one.`;
  throw new HoldfastError("NOT_FOUND", message, { details: { tenant: id } });
}

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
