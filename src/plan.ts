import { EMBEDDED_OPERATIONS } from "./backends/embedded/operations.ts";
import { FOLDER_OPERATIONS } from "./database/folder-operations.ts";
import { type DatabasePlan, databasePlan } from "./database/operation.ts";
import { MEMORY_OPERATIONS } from "./memory/operations.ts";
import { MEMORY_SCHEMA } from "./memory/schema.ts";
import { RECEIPTS_SCHEMA, readReceipt } from "./registry/receipts.ts";
import { REGISTRY_SCHEMA } from "./registry/schema.ts";

/**
 * The one plan of every folder: all tables are made when the folder is, whichever layer opens it
 * first, so that a store and a memory can share one.
 */
export const DATABASE_PLAN: DatabasePlan = databasePlan(
  [REGISTRY_SCHEMA, RECEIPTS_SCHEMA, ...MEMORY_SCHEMA],
  [...FOLDER_OPERATIONS, readReceipt, ...EMBEDDED_OPERATIONS, ...MEMORY_OPERATIONS],
);

/** The file that each of a folder's threads runs. */
export const WORKER_URL: URL = new URL("./worker.js", import.meta.url);
