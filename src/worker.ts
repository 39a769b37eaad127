import { workerData } from "node:worker_threads";
import { databasePlan } from "./database/operation.ts";
import { serveDatabase } from "./database/serve.ts";
import type { WorkerStart } from "./io/workers.ts";

const start = workerData as WorkerStart;
// The maintenance thread runs no operation: without loading them it starts in half the time.
const plan = start.role === "maintenance" ? databasePlan([], []) : (await import("./plan.ts")).DATABASE_PLAN;
serveDatabase(start, plan);
