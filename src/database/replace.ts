import { join } from "node:path";
import { HoldfastError, isHoldfastError } from "../errors/index.ts";
import { systemClock } from "../io/clock.ts";
import { exists, fileIdentityOf, listFolder, realPathOf, syncFolder } from "../io/disk.ts";
import type { Steps } from "../io/step-job.ts";
import { linkFile, removePath, renamePath } from "../io/whole-files.ts";
import type { Connection } from "./connection.ts";
import { toDatabaseError } from "./errors.ts";
import { DATABASE_FILE, makerOf, REPLACED_PREFIX } from "./folder-files.ts";
import { APPLICATION_ID, foreign } from "./format.ts";
import { holdAlone } from "./sole-database.ts";

/** Refuses before anything is copied: a folder that is somebody else's, that is open here, or that holds a memory. */
export function assertReplaceable(path: string, replace: boolean, openHere: readonly string[]): void {
  const names = (listFolder(path) ?? []).filter((name) => makerOf(name) === undefined);
  if (names.length === 0) return;
  const file = join(path, DATABASE_FILE);
  const isOurs = names.includes(DATABASE_FILE) || names.some((name) => name.startsWith(REPLACED_PREFIX));
  if (!isOurs) throw foreign(path);
  if (exists(file) && openHere.includes(realPathOf(file))) throw inUse(path, "this process");
  if (replace) return;
  const message = `${path} holds a memory already; name an empty folder, or say that it may be replaced (replace: true, --replace).`;
  throw new HoldfastError("ALREADY_EXISTS", message, { details: { path } });
}

/**
 * Gives a whole and synced database its place in a folder, in one rename. What stood there is kept under another name,
 * which is answered. Nobody can have it open meanwhile: SQLite's own lock is held, which every open handle contradicts.
 */
export function* replaceDatabase(
  folder: string,
  part: string,
  { replace, total }: { readonly replace: boolean; readonly total: number },
): Steps<string | undefined> {
  const file = join(folder, DATABASE_FILE);
  const step = { phase: "checking", done: total, total } as const;
  yield step;
  if (!exists(file) && !exists(`${file}-wal`)) {
    placeNew(folder, part, file);
    return undefined;
  }
  if (!replace) throw appeared(folder);
  const kept = keptName(folder);
  const lock = exists(file) ? takeAlone(file) : undefined;
  try {
    yield step;
    if (lock === undefined) return yield* moveAside(folder, part, kept, step);
    const known = nameOfSame(folder, file);
    if (known === undefined) linkFile(file, kept);
    yield step;
    renamePath(part, file);
    syncFolder(folder);
    return known ?? kept;
  } finally {
    lock?.close();
  }
}

/** Raises when a memory appeared there meanwhile: a link takes no other's place. */
function placeNew(folder: string, part: string, file: string): void {
  try {
    linkFile(part, file);
  } catch (error) {
    if ((error as { code?: string }).code === "EEXIST") throw appeared(folder);
    // A file system without links.
    renamePath(part, file);
  }
  syncFolder(folder);
}

/**
 * For a database that SQLite cannot open, whose log must not meet the new one: database and log go aside under names
 * that belong together. Ended between, the folder says so and the restore is done again.
 */
function* moveAside(
  folder: string,
  part: string,
  kept: string,
  step: { readonly phase: "checking"; readonly done: number; readonly total: number },
): Steps<string> {
  const file = join(folder, DATABASE_FILE);
  for (const suffix of ["", "-wal", "-journal"]) {
    if (!exists(file + suffix)) continue;
    renamePath(file + suffix, kept + suffix);
    yield step;
  }
  removePath(`${file}-shm`);
  syncFolder(folder);
  yield step;
  placeNew(folder, part, file);
  return kept;
}

/** Holds the database alone; `undefined` for one that is damaged. Raises BUSY when anybody has it open. */
function takeAlone(file: string): Connection | undefined {
  const identity = fileIdentityOf(file);
  let held: Connection | undefined;
  try {
    held = holdAlone(file);
    if (held === undefined) return undefined;
    const applicationId = held.prepare("PRAGMA application_id").get()?.application_id;
    if (Number(applicationId) !== APPLICATION_ID) throw foreign(file);
    if (fileIdentityOf(file) !== identity) throw inUse(file, "another process");
    return held;
  } catch (error) {
    held?.close();
    const ours = toDatabaseError(error, { path: file, outcome: "not-applied" });
    throw isHoldfastError(ours, "BUSY") ? inUse(file, "another process") : ours;
  }
}

function keptName(folder: string): string {
  const stamp = new Date(systemClock.nowMicros() / 1_000).toISOString().replace(/[-:]|\.\d+/g, "");
  for (let count = 1; ; count += 1) {
    const name = join(folder, `${REPLACED_PREFIX}${stamp}${count === 1 ? "" : `-${count}`}`);
    if (!exists(name)) return name;
  }
}

/** The name under which an earlier restore, that was ended between, keeps this very file. */
function nameOfSame(folder: string, file: string): string | undefined {
  const identity = fileIdentityOf(file);
  return (listFolder(folder) ?? [])
    .filter((name) => name.startsWith(REPLACED_PREFIX))
    .map((name) => join(folder, name))
    .find((path) => fileIdentityOf(path) === identity);
}

function inUse(path: string, who: string): HoldfastError {
  const message = `${path} is open in ${who}; close it there, and restore again.`;
  return new HoldfastError("BUSY", message, { details: { path }, outcome: "not-applied" });
}

function appeared(folder: string): HoldfastError {
  const message = `${folder} holds a memory that was made meanwhile; name another folder, or say that it may be replaced.`;
  return new HoldfastError("ALREADY_EXISTS", message, { details: { path: folder }, outcome: "not-applied" });
}
