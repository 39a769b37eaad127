import { join, resolve } from "node:path";
import type { BackupManifest, RestoreOptions, RestoreReceipt } from "../contract/backup.ts";
import { HoldfastError } from "../errors/index.ts";
import { exists, listFolder, makeFolder, realPathOf, syncFolder } from "../io/disk.ts";
import { mintId } from "../io/ids.ts";
import { ownProcess } from "../io/processes.ts";
import { type StepJob, type Steps, stepJob } from "../io/step-job.ts";
import { runSteps } from "../io/step-thread.ts";
import { copyToNewFile, removeEmptyFolder, removePath } from "../io/whole-files.ts";
import { assertRoom, inSteps, toSteps } from "./backup.ts";
import { withDeadline } from "./call.ts";
import { toFolderError } from "./errors.ts";
import { DATABASE_FILE, MANIFEST_FILE, removeAbandoned, unfinishedName } from "./folder-files.ts";
import { readManifest } from "./manifest.ts";
import { databasesOpenHere } from "./open-database.ts";
import { assertReplaceable, replaceDatabase } from "./replace.ts";
import { contentOf, withStillDatabase } from "./whole-database.ts";

interface RestoreInput {
  readonly backup: string;
  readonly folder: string;
  readonly replace: boolean;
  /** Real paths of the databases that this process has open. */
  readonly openHere: readonly string[];
}

/**
 * Makes a folder what a backup says, checked before anything is replaced. Until the last step the folder is what it was;
 * from then on it is the backup, with a new epoch.
 */
export async function restoreBackup(
  backup: string,
  folder: string,
  options: RestoreOptions,
  url: URL,
): Promise<RestoreReceipt> {
  const { onProgress, replace = false, threads = "workers", ...call } = options;
  const { signal } = withDeadline(call, "write");
  const input: RestoreInput = {
    backup: resolve(backup),
    folder: resolve(folder),
    replace,
    openHere: databasesOpenHere(),
  };
  return runSteps(restoreJob, input, {
    url: threads === "inline" ? undefined : url,
    ...(signal && { signal }),
    ...toSteps(onProgress),
  });
}

export const restoreJob: StepJob<RestoreInput, RestoreReceipt> = stepJob("database.restore", function* (input) {
  try {
    return yield* restore(input);
  } catch (error) {
    throw toFolderError(error, input.folder);
  }
});

function* restore({ backup, folder: path, replace, openHere }: RestoreInput): Steps<RestoreReceipt> {
  const source = join(backup, DATABASE_FILE);
  const manifest = describe(backup, source, openHere);
  assertReplaceable(path, replace, openHere);
  const isNew = listFolder(path) === undefined;
  const folder = makeFolder(path);
  const part = join(folder, unfinishedName(ownProcess(), mintId()));
  try {
    removeAbandoned(folder);
    assertRoom(folder, manifest.sizeBytes);
    yield { phase: "copying", done: 0, total: manifest.sizeBytes };
    const digest = yield* inSteps(copyToNewFile(source, part), "copying", manifest.sizeBytes);
    assertAsDescribed(source, manifest, digest);
    yield { phase: "checking", done: 0, total: manifest.sizeBytes };
    adopt(part, source, manifest);
    syncFolder(folder);
    const kept = yield* replaceDatabase(folder, part, { replace, total: manifest.sizeBytes });
    return { path: folder, createdAt: manifest.createdAt, rows: manifest.rows, ...(kept !== undefined && { kept }) };
  } finally {
    removePath(part);
    removePath(`${part}-journal`);
    if (isNew) removeEmptyFolder(folder);
  }
}

function describe(backup: string, source: string, openHere: readonly string[]): BackupManifest {
  const manifest = join(backup, MANIFEST_FILE);
  if (!exists(manifest)) {
    const message = `${backup} is no backup: it holds no ${MANIFEST_FILE}. Name the folder that "holdfast backup" made.`;
    throw new HoldfastError(exists(backup) ? "FOREIGN_STORAGE" : "NOT_FOUND", message, { details: { path: backup } });
  }
  const described = readManifest(manifest);
  if (!exists(source)) throw changed(source, "the file is missing");
  if (openHere.includes(realPathOf(source))) {
    const message = `The backup ${backup} is open in this process; close it first.`;
    throw new HoldfastError("BUSY", message, { details: { path: backup }, outcome: "not-applied" });
  }
  return described;
}

function assertAsDescribed(
  source: string,
  manifest: BackupManifest,
  digest: { readonly bytes: number; readonly sha256: string },
): void {
  if (digest.bytes !== manifest.sizeBytes)
    throw changed(source, `it has ${digest.bytes} bytes in place of ${manifest.sizeBytes}`);
  if (digest.sha256 !== manifest.sha256) throw changed(source, "its checksum does not hold");
}

function changed(source: string, what: string): HoldfastError {
  const message = `${source} is not what the backup was made of: ${what}. Nothing was restored; use another backup.`;
  return new HoldfastError("DAMAGED", message, { details: { path: source }, outcome: "not-applied" });
}

/** Opens the copy, holds its counts against the manifest, and makes it a folder of its own: with a new epoch. */
function adopt(part: string, source: string, manifest: BackupManifest): void {
  withStillDatabase(part, false, (connection) => {
    const content = contentOf(connection);
    if (content.format !== manifest.format) throw changed(source, `it has format ${content.format}`);
    const tables = new Set([...Object.keys(content.rows), ...Object.keys(manifest.rows)]);
    const wrong = [...tables].find((table) => content.rows[table] !== manifest.rows[table]);
    if (wrong !== undefined) throw changed(source, `the table ${wrong} has ${content.rows[wrong] ?? "no"} rows`);
    connection.exec("PRAGMA synchronous = FULL");
    connection.prepare("UPDATE holdfast SET epoch = ?").run(mintId());
  });
}
