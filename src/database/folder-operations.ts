import { type Operation, type ReadOperation, readOperation } from "./operation.ts";

/** Pages of the database file as this moment has them, its log included. */
export interface PageCounts {
  readonly pageBytes: number;
  readonly pages: number;
  /** Pages that hold nothing, and are used again. */
  readonly freePages: number;
}

export const readPageCounts: ReadOperation<null, PageCounts> = readOperation(
  "database.page-counts",
  ({ connection }) => {
    const pragma = (name: string): number => Number(connection.prepare(`PRAGMA ${name}`).get()?.[name]);
    return { pageBytes: pragma("page_size"), pages: pragma("page_count"), freePages: pragma("freelist_count") };
  },
);

/** Random, and new whenever a folder is created, restored or repaired: what was counted in another one means nothing in it. */
export const readEpoch: ReadOperation<null, string> = readOperation("database.epoch", ({ connection }) =>
  String(connection.prepare("SELECT epoch FROM holdfast").get()?.epoch),
);

/** Operations on the database as a whole, for the plan of a folder's threads. */
export const FOLDER_OPERATIONS: readonly Operation[] = [readPageCounts, readEpoch];
