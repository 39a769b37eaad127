import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";

/** Makes a folder that its owner alone can enter; raises EEXIST where there is one. */
export function makeOwnFolder(path: string): void {
  mkdirSync(path, { mode: 0o700 });
}

/** Writes pages into a copy that nobody has open through SQLite, each at its place. */
export function writePages(
  path: string,
  pageBytes: number,
  pages: Iterable<readonly [page: number, bytes: Uint8Array]>,
): void {
  const descriptor = openSync(path, "r+");
  try {
    for (const [page, bytes] of pages) writeSync(descriptor, bytes, 0, bytes.byteLength, (page - 1) * pageBytes);
  } finally {
    closeSync(descriptor);
  }
}
