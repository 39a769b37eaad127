import { sealBackup } from "./database/backup.ts";
import { restoreJob } from "./database/restore.ts";
import type { StepJob } from "./io/step-job.ts";
import { repairJob } from "./repair-folder.ts";
import { verifyJob } from "./verify-folder.ts";

/** Long work that runs in a thread of its own, by name. */
export const STEP_JOBS: ReadonlyMap<string, StepJob<never, unknown>> = new Map(
  ([sealBackup, restoreJob, verifyJob, repairJob] as readonly StepJob<never, unknown>[]).map((job) => [job.name, job]),
);
