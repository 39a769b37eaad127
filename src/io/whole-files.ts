import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";

/**
 * Files as a whole, by their bytes. Each of these opens a descriptor, and closing one drops the locks that SQLite has on
 * the same file in this process: they are for files that no connection of this process has open.
 */

/** Bytes of one step: a few milliseconds, so that a caller who stops is heard. */
const SLICE_BYTES = 4 * 1024 * 1024;

/** What is known of a file that was read to its end. */
export interface FileDigest {
  readonly bytes: number;
  readonly sha256: string;
}

/** Reads a file to its end; yields how many bytes it has read. */
export function* digestFile(path: string): Generator<number, FileDigest, void> {
  const descriptor = openSync(path, "r");
  try {
    return yield* readSlices(descriptor, () => undefined);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Copies a file into a new one that its owner alone can read (0600), and syncs it; yields how many bytes are copied.
 * What was read is what the digest is of. A copy that does not come to its end is left to the caller.
 */
export function* copyToNewFile(from: string, to: string): Generator<number, FileDigest, void> {
  const source = openSync(from, "r");
  try {
    const target = openSync(to, "wx", 0o600);
    try {
      const digest = yield* readSlices(source, (slice) => writeAll(target, slice));
      fsyncSync(target);
      return digest;
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

function* readSlices(descriptor: number, take: (slice: Uint8Array) => void): Generator<number, FileDigest, void> {
  const hash = createHash("sha256");
  const buffer = new Uint8Array(SLICE_BYTES);
  let bytes = 0;
  for (;;) {
    const read = readSync(descriptor, buffer, 0, SLICE_BYTES, null);
    if (read === 0) return { bytes, sha256: hash.digest("hex") };
    const slice = buffer.subarray(0, read);
    hash.update(slice);
    take(slice);
    bytes += read;
    yield bytes;
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
}

/** Writes a new file that its owner alone can read (0600), and syncs it. */
export function writeNewFile(path: string, text: string): void {
  const descriptor = openSync(path, "wx", 0o600);
  try {
    writeAll(descriptor, new TextEncoder().encode(text));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A small file's text, or `undefined` when it holds more than `bytesMax`. */
export function readSmallFile(path: string, bytesMax: number): string | undefined {
  const descriptor = openSync(path, "r");
  try {
    const buffer = new Uint8Array(bytesMax + 1);
    let bytes = 0;
    for (let read = -1; read !== 0 && bytes <= bytesMax; bytes += read)
      read = readSync(descriptor, buffer, bytes, buffer.length - bytes, null);
    return bytes > bytesMax ? undefined : new TextDecoder().decode(buffer.subarray(0, bytes));
  } finally {
    closeSync(descriptor);
  }
}

/** Makes a file's bytes survive power loss. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, "r+");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Copies a file at once, without its bytes where the file system can share them. */
export function cloneFile(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
}

/** Gives a file a second name; raises EEXIST where there is one already. */
export function linkFile(from: string, to: string): void {
  linkSync(from, to);
}

/** Moves a file or folder, in the place of what stands there. */
export function renamePath(from: string, to: string): void {
  renameSync(from, to);
}

/** Removes a file, or a folder with all that is in it; nothing when there is none. */
export function removePath(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/** Removes a folder that holds nothing; leaves any other as it is. */
export function removeEmptyFolder(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Somebody has put something there.
  }
}

/** What a file was like at a moment: two equal stamps are of the same bytes, unless a clock was set back between. */
export function stampOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}`;
}

/** Bytes that may still be written on the file system of `path`; `Infinity` where it does not say. */
export function freeBytesAt(path: string): number {
  const { bavail, bsize, blocks } = statfsSync(path);
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}
