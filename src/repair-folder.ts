import { dirname } from "node:path";
import { assertOptions, CALL_OPTIONS, type OptionNames } from "./contract/option-names.ts";
import { isOpenHere } from "./database/open-database.ts";
import { findFolder } from "./database/open-files.ts";
import { HoldfastError } from "./errors/index.ts";
import { type StepJob, stepJob } from "./io/step-job.ts";
import { DATABASE_PLAN, WORKER_URL } from "./plan.ts";
import { inUse } from "./repair/locked-folder.ts";
import type { RepairOptions, RepairReport } from "./repair/repair-contract.ts";
import { RepairJob, type RepairSettings } from "./repair/repair-job.ts";
import { byteFindings, folderFindings } from "./verify/file-checks.ts";
import { inTurns, runWatched } from "./verify/stepped-job.ts";

const REPAIR_OPTIONS: OptionNames<RepairOptions> = {
  ...CALL_OPTIONS,
  dryRun: true,
  force: true,
  threads: true,
  onProgress: true,
};

/**
 * Makes a damaged folder whole again, of everything in it that is undamaged. Reads the damaged database page by page,
 * writes a new one beside it, verifies that, and only then gives it its place, in one rename. The damaged database is kept,
 * and each row that could not be brought back is listed beside it with its reason. What is derived, words, counts, and
 * vectors that were damaged, is made anew. The repaired folder has a new epoch.
 *
 * Nobody may have the folder open. Ended at any moment, the folder is what it was, or repaired.
 *
 * @throws NOT_FOUND, FOREIGN_STORAGE, FORMAT_TOO_NEW, BUSY (it is open, or another repair is at work), DISK_FULL, READ_ONLY,
 *   DAMAGED (what was made did not prove whole; nothing was replaced), INVALID_ARGUMENT, ABORTED, TIMEOUT
 */
export async function repairFolder(path: string, options: RepairOptions = {}): Promise<RepairReport> {
  assertOptions(options, REPAIR_OPTIONS, "repairFolder");
  const { dryRun = false, force = false, threads = "workers", onProgress, ...bounds } = options;
  if (typeof dryRun !== "boolean") throw invalid("dryRun is true or false.");
  if (typeof force !== "boolean") throw invalid("force is true or false.");
  if (threads !== "workers" && threads !== "inline") throw invalid('threads is "workers" or "inline".');
  if (onProgress !== undefined && typeof onProgress !== "function") throw invalid("onProgress is a function.");
  const file = findFolder(path);
  if (isOpenHere(file)) throw inUse(file);
  const folder = dirname(file);
  const settings: RepairSettings = {
    folder,
    dryRun,
    force,
    found: [...folderFindings(folder), ...byteFindings(folder)],
  };
  const url = threads === "inline" ? undefined : WORKER_URL;
  return runWatched(repairJob, settings, { ...bounds, onProgress, url });
}

/** What {@link repairFolder} does in its thread. */
export const repairJob: StepJob<RepairSettings, RepairReport> = stepJob("repair.folder", (settings) =>
  inTurns(new RepairJob(settings, DATABASE_PLAN)),
);

function invalid(message: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", message);
}
