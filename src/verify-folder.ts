import { dirname } from "node:path";
import { assertOptions, CALL_OPTIONS, type OptionNames } from "./contract/option-names.ts";
import { isOpenHere } from "./database/open-database.ts";
import { findFolder } from "./database/open-files.ts";
import { HoldfastError } from "./errors/index.ts";
import { type StepJob, stepJob } from "./io/step-job.ts";
import { DATABASE_PLAN, WORKER_URL } from "./plan.ts";
import { byteFindings, folderFindings } from "./verify/file-checks.ts";
import { FolderCheck, type VerifySettings } from "./verify/folder-check.ts";
import { inTurns, runWatched } from "./verify/stepped-job.ts";
import type { VerifyOptions, VerifyReport } from "./verify/verify-contract.ts";

const VERIFY_OPTIONS: OptionNames<VerifyOptions> = {
  ...CALL_OPTIONS,
  deep: true,
  maxFindings: true,
  threads: true,
  memoryBudgetBytes: true,
  onProgress: true,
};

const FINDINGS_MAX = 100_000;
const FINDINGS_BY_DEFAULT = 1_000;
const BUDGET_BYTES_BY_DEFAULT = 256 * 1024 * 1024;

/**
 * Reads everything in a folder and holds it against each other: pages, checksums, counts, texts against words, events
 * against segments against vectors. Changes nothing, also in a folder that others have open, of which it sees one moment;
 * their log cannot start over meanwhile and grows.
 *
 * @throws NOT_FOUND, FOREIGN_STORAGE, FORMAT_TOO_NEW, BUSY, READ_ONLY, INVALID_ARGUMENT, ABORTED, TIMEOUT; damage is no
 *   error but what the report says
 */
export async function verifyFolder(path: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  const { deep, threads, watch, settings } = toVerification(path, options);
  const url = threads === "inline" ? undefined : WORKER_URL;
  return runWatched(verifyJob, { ...settings, deep }, { ...watch, url });
}

/** What {@link verifyFolder} does in its thread. */
export const verifyJob: StepJob<VerifySettings, VerifyReport> = stepJob("verify.folder", (settings) =>
  inTurns(new FolderCheck(settings, DATABASE_PLAN.schema)),
);

function toVerification(path: string, options: VerifyOptions) {
  assertOptions(options, VERIFY_OPTIONS, "verifyFolder");
  const { deep = false, maxFindings = FINDINGS_BY_DEFAULT, threads = "workers", onProgress, ...rest } = options;
  const { memoryBudgetBytes = BUDGET_BYTES_BY_DEFAULT, ...bounds } = rest;
  if (typeof deep !== "boolean") throw invalid("deep is true or false.");
  if (threads !== "workers" && threads !== "inline") throw invalid('threads is "workers" or "inline".');
  if (!(Number.isInteger(maxFindings) && maxFindings >= 1 && maxFindings <= FINDINGS_MAX))
    throw invalid(`maxFindings is a whole number from 1 to ${FINDINGS_MAX}.`);
  if (onProgress !== undefined && typeof onProgress !== "function") throw invalid("onProgress is a function.");
  const file = findFolder(path);
  const folder = dirname(file);
  const found = [...folderFindings(folder), ...(isOpenHere(file) ? [] : byteFindings(folder))];
  return { deep, threads, watch: { ...bounds, onProgress }, settings: { file, maxFindings, memoryBudgetBytes, found } };
}

function invalid(message: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", message);
}
