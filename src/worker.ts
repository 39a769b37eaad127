import { workerData } from "node:worker_threads";
import { databasePlan } from "./database/operation.ts";
import { serveDatabase } from "./database/serve.ts";
import { STEP_ROLE, serveSteps } from "./io/step-thread.ts";
import type { WorkerStart } from "./io/workers.ts";

const start = workerData as WorkerStart;
switch (start.role) {
  case "maintenance":
    // It runs no operation: without loading them it starts in half the time.
    serveDatabase(start, databasePlan([], []));
    break;
  case STEP_ROLE:
    serveSteps(start, (await import("./jobs.ts")).STEP_JOBS);
    break;
  default:
    serveDatabase(start, (await import("./plan.ts")).DATABASE_PLAN);
}
