import { workerData } from "node:worker_threads";
import { serveDatabase } from "./database/serve.ts";
import type { WorkerStart } from "./io/workers.ts";
import { DATABASE_PLAN } from "./plan.ts";

serveDatabase(workerData as WorkerStart, DATABASE_PLAN);
