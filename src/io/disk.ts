import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { mintId } from "./ids.ts";
import { reasonOf } from "./system-errors.ts";

/** Makes a private folder (0700) with its parents and syncs each new entry; answers its real path. */
export function makeFolder(path: string): string {
  const absolute = resolve(path);
  if (!existsSync(absolute)) {
    const parent = makeParents(dirname(absolute));
    try {
      mkdirSync(absolute, { mode: 0o700 });
      chmodSync(absolute, 0o700);
    } catch (error) {
      if ((error as { code?: string }).code !== "EEXIST") throw error;
    }
    syncFolder(parent);
  }
  return realpathSync(absolute);
}

function makeParents(path: string): string {
  if (!existsSync(path)) {
    const parent = makeParents(dirname(path));
    mkdirSync(path, { recursive: true });
    syncFolder(parent);
  }
  return path;
}

/** The names in a folder, or `undefined` when there is no such folder. */
export function listFolder(path: string): readonly string[] | undefined {
  try {
    return readdirSync(path);
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Creates a file readable by its owner alone (0600) when there is none. This is the only place that
 * opens a database's path beside SQLite: exclusively, and so only when no process can hold it yet.
 */
export function createPrivateFile(path: string): boolean {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === "EEXIST") return false;
    throw error;
  }
}

/** Makes new entries of a folder survive power loss. */
export function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const PROBE_BYTES = 64 * 1024;

/**
 * Why a folder cannot be written to, as the system itself says it (`ENOSPC`, `EDQUOT`, `EROFS`, …): SQLite tells only
 * that it could not. Writes and syncs a file of its own and removes it; `undefined` when that succeeds. Safe beside
 * SQLite, because the file is a new one.
 *
 * @param sizeBytes - written up to there, without filling what lies before: finds a limit of a file's size
 */
export function refusalOfWriting(folder: string, sizeBytes: number): string | undefined {
  const path = join(folder, `.probe-${mintId()}`);
  try {
    const descriptor = openSync(path, "wx", 0o600);
    try {
      unlinkSync(path);
      writeSync(descriptor, new Uint8Array(PROBE_BYTES));
      writeSync(descriptor, new Uint8Array(1), 0, 1, sizeBytes + PROBE_BYTES);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Size in bytes by `stat` alone, which opens no descriptor; 0 when there is no such file. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Which file stands at `path` now, by device and number; `undefined` when there is none. Opens no descriptor. */
export function fileIdentityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

export function exists(path: string): boolean {
  return existsSync(path);
}

export function realPathOf(path: string): string {
  return realpathSync(path);
}

/** Linux `statfs` magic numbers (man 2 statfs) of file systems whose locks or shared memory do not span their clients. */
const SHARED_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "nfs"],
  [0x517b, "smb"],
  [0xff534d42, "cifs"],
  [0xfe534d42, "smb2"],
  [0x01021997, "9p"],
  [0x786f4256, "vboxsf"],
  [0xbacbacbc, "vmhgfs"],
  [0x65735546, "fuse"],
  [0x00c36400, "ceph"],
  [0x0bd00bd0, "lustre"],
  [0x5346414f, "afs"],
  [0x47504653, "gpfs"],
  [0x01161970, "gfs2"],
  [0x7461636f, "ocfs2"],
]);

/** The kind of network or shared-VM file system that `path` lies on, or `undefined` for a local one. */
export function sharedFileSystemOf(path: string): string | undefined {
  if (process.platform !== "linux") return undefined;
  return SHARED_FILE_SYSTEMS.get(Number(statfsSync(path).type) >>> 0);
}
