import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/**
 * SQLite's files as bytes (https://www.sqlite.org/fileformat2.html), for what SQLite itself does not tell. Only for
 * files that this process has not opened through SQLite: closing any descriptor of one drops its locks.
 */
const MAGIC = "SQLite format 3\u0000";

export interface DatabaseHeader {
  readonly pageBytes: number;
  /** As the first page says. */
  readonly pages: number;
}

/** The sizes that the first page names, or `undefined` where it is no SQLite header. */
export function readHeader(path: string): DatabaseHeader | undefined {
  const bytes = readStart(path, 100);
  if (bytes === undefined || bytes.byteLength < 100 || bytes.toString("latin1", 0, 16) !== MAGIC) return undefined;
  const size = bytes.readUInt16BE(16);
  return { pageBytes: size === 1 ? 65_536 : size, pages: bytes.readUInt32BE(28) };
}

export interface SharedIndex {
  /** Frames of the log that hold commits. */
  readonly frames: number;
  /** Those of them that are in the database file. */
  readonly movedFrames: number;
}

/** What the index of the log remembers; it outlives a process that was killed. */
export function readSharedIndex(path: string): SharedIndex | undefined {
  const bytes = readStart(path, 136);
  if (bytes === undefined || bytes.byteLength < 136) return undefined;
  const isInitialised = bytes[12] === 1 && bytes.subarray(0, 48).equals(bytes.subarray(48, 96));
  // In the machine's own order of bytes; the version tells which.
  const isLittle = bytes.readUInt32LE(0) < bytes.readUInt32BE(0);
  const read = (at: number): number => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  return isInitialised ? { frames: read(16), movedFrames: read(96) } : undefined;
}

export interface LogState {
  /** Whole frames in the file, of any age. */
  readonly frames: number;
  /** Frames from the start whose checksums hold: what SQLite reads, up to the last commit among them. */
  readonly validFrames: number;
  /** The last commit of the same generation that stands behind a frame whose checksum does not hold. */
  readonly commitBehindDamage: number | undefined;
}

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

export function readLog(path: string): LogState {
  const empty = { frames: 0, validFrames: 0, commitBehindDamage: undefined };
  return withFile(path, (descriptor) => scanLog(descriptor) ?? empty) ?? empty;
}

/** The newest committed bytes of each page that the log holds, in the order of their commits. */
export function* committedPages(path: string): Generator<readonly [page: number, bytes: Uint8Array]> {
  const { validFrames } = readLog(path);
  const found = withFile(path, (descriptor) => {
    const header = Buffer.alloc(LOG_HEADER_BYTES);
    readSync(descriptor, header, 0, LOG_HEADER_BYTES, 0);
    const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8);
    const heads = Array.from({ length: validFrames }, (_, index) => {
      const head = Buffer.alloc(8);
      readSync(descriptor, head, 0, 8, LOG_HEADER_BYTES + index * frameBytes);
      return { page: head.readUInt32BE(0), isCommit: head.readUInt32BE(4) > 0 };
    });
    return { frameBytes, heads: heads.slice(0, heads.map(({ isCommit }) => isCommit).lastIndexOf(true) + 1) };
  });
  for (const [index, { page }] of (found?.heads ?? []).entries()) {
    const { frameBytes = 0 } = found ?? {};
    const bytes = Buffer.alloc(frameBytes - FRAME_HEADER_BYTES);
    withFile(path, (descriptor) =>
      readSync(descriptor, bytes, 0, bytes.byteLength, LOG_HEADER_BYTES + index * frameBytes + FRAME_HEADER_BYTES),
    );
    yield [page, bytes];
  }
}

function scanLog(descriptor: number): LogState | undefined {
  const header = Buffer.alloc(LOG_HEADER_BYTES);
  if (readSync(descriptor, header, 0, LOG_HEADER_BYTES, 0) < LOG_HEADER_BYTES) return undefined;
  const magic = header.readUInt32BE(0);
  const pageBytes = header.readUInt32BE(8);
  if ((magic & 0xfffffffe) >>> 0 !== 0x377f0682 || pageBytes < 512 || pageBytes > 65_536) return undefined;
  const sum = new LogSum((magic & 1) === 1);
  sum.add(header.subarray(0, 24));
  const isWhole = sum.isEqual(header, 24);
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + pageBytes);
  const frames = Math.floor((fstatSync(descriptor).size - LOG_HEADER_BYTES) / frame.byteLength);
  let validFrames = 0;
  let commitBehindDamage: number | undefined;
  for (let index = 0; index < frames; index += 1) {
    readSync(descriptor, frame, 0, frame.byteLength, LOG_HEADER_BYTES + index * frame.byteLength);
    if (!frame.subarray(8, 16).equals(header.subarray(16, 24))) break;
    if (isWhole && validFrames === index) {
      sum.add(frame.subarray(0, 8));
      sum.add(frame.subarray(FRAME_HEADER_BYTES));
      if (sum.isEqual(frame, 16)) {
        validFrames += 1;
        continue;
      }
    }
    if (frame.readUInt32BE(4) > 0 && index > validFrames) commitBehindDamage = index + 1;
  }
  return { frames, validFrames, commitBehindDamage };
}

/** The log's running checksum, over words of 32 bits in the order of bytes that its header names. */
class LogSum {
  readonly #isBig: boolean;
  #first = 0;
  #second = 0;

  constructor(isBig: boolean) {
    this.#isBig = isBig;
  }

  add(bytes: Buffer): void {
    let [first, second] = [this.#first, this.#second];
    for (let at = 0; at + 8 <= bytes.byteLength; at += 8) {
      const [low, high] = this.#isBig
        ? [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)]
        : [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)];
      first = (first + low + second) >>> 0;
      second = (second + high + first) >>> 0;
    }
    this.#first = first;
    this.#second = second;
  }

  isEqual(bytes: Buffer, at: number): boolean {
    return bytes.readUInt32BE(at) === this.#first && bytes.readUInt32BE(at + 4) === this.#second;
  }
}

function readStart(path: string, length: number): Buffer | undefined {
  return withFile(path, (descriptor) => {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, length, 0));
  });
}

/** `undefined` when there is no such file. */
function withFile<T>(path: string, read: (descriptor: number) => T): T | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return read(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
