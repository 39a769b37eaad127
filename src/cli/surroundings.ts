import { createReadStream, existsSync, realpathSync, statSync } from "node:fs"; // tidy: the user's own input, never a file of a memory
import { link, open, rename, rm } from "node:fs/promises"; // tidy: the user's own output, never a file of a memory
import { basename, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { addAbortSignal } from "node:stream";
import { HoldfastError } from "../errors/index.ts";
import {
  type Memory,
  openMemory,
  type RepairOptions,
  type RepairReport,
  type RestoreOptions,
  type RestoreReceipt,
  repairFolder,
  restore,
  type VerifyOptions,
  type VerifyReport,
  verifyFolder,
} from "../index.ts";
import { systemClock } from "../io/clock.ts";
import { type Output, StreamOutput } from "./output.ts";

/** Bytes to read, and how many there are where that is known; nothing is read before they are asked for. */
export interface Input {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly sizeBytes?: number;
}

/** Everything outside the command line that a command touches. */
export interface Surroundings {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
  openMemory(path: string): Promise<Memory>;
  verifyFolder(path: string, options: VerifyOptions): Promise<VerifyReport>;
  repairFolder(path: string, options: RepairOptions): Promise<RepairReport>;
  restore(backup: string, folder: string, options: RestoreOptions): Promise<RestoreReceipt>;
  /** Standard input for `-`; `memoryPath` is the folder that must not be read from. Raises for what is no file. */
  openInput(path: string, memoryPath: string): Input;
  /** Writes a new file, which is there under its name when `write` has ended, and not at all when it raised. */
  writeFile(path: string, memoryPath: string, write: (file: FileSink) => Promise<void>): Promise<void>;
  /** Asks on the terminal; absent where nobody sits at one. */
  readonly ask?: (question: string) => Promise<string>;
}

/** Where a file's text goes. */
export type FileSink = Pick<Output, "write" | "closed">;

/** Those of this process. */
export function processSurroundings(signal: AbortSignal): Surroundings {
  const { stdout, stderr, env } = process;
  return {
    stdout: new StreamOutput(stdout, env),
    stderr: new StreamOutput(stderr, env),
    env,
    signal,
    nowMs: systemClock.monotonicMs,
    openMemory: (path) => openMemory(path),
    verifyFolder,
    repairFolder,
    restore,
    openInput: (path, memoryPath) => (path === "-" ? openStandardInput(signal) : openFile(path, memoryPath, signal)),
    writeFile: writeNewFile,
    ...(process.stdin.isTTY && process.stderr.isTTY && { ask: (question: string) => askOnTerminal(question, signal) }),
  };
}

/** The end of the input (Ctrl-D) is an empty answer. While readline reads, Ctrl-C is a key: it is made a signal again. */
async function askOnTerminal(question: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    const end = new Promise<string>((resolve) => lines.once("close", () => resolve("\n")));
    const answer = await Promise.race([lines.question(question, { signal }), end]);
    if (answer === "\n") process.stderr.write("\n");
    return answer;
  } finally {
    lines.close();
  }
}

async function writeNewFile(path: string, memoryPath: string, write: (file: FileSink) => Promise<void>): Promise<void> {
  const folder = realPathOf(dirname(resolve(path)), "The folder");
  const target = join(folder, basename(path));
  assertOutside(target, memoryPath);
  if (existsSync(target))
    throw new HoldfastError("ALREADY_EXISTS", `${path} exists; name a new file, or remove it first.`);
  const part = join(folder, `.${basename(path)}.${process.pid}.part`);
  const file = await open(part, "w", 0o600);
  try {
    await write({ write: async (text) => void (await file.appendFile(text)), closed: false });
    await file.sync();
    await file.close();
    // A link takes no other's place; a file system without links is renamed on.
    await link(part, target).catch(() => rename(part, target));
  } finally {
    await file.close();
    await rm(part, { force: true });
  }
}

function openStandardInput(signal: AbortSignal): Input {
  return { chunks: onDemand(() => addAbortSignal(signal, process.stdin)) };
}

function openFile(path: string, memoryPath: string, signal: AbortSignal): Input {
  const real = realPathOf(path);
  const stats = statSync(real);
  if (stats.isDirectory())
    throw new HoldfastError("INVALID_ARGUMENT", `${path} is a folder; name a file of JSON lines.`);
  assertOutside(real, memoryPath);
  const chunks = onDemand(() => createReadStream(real, { signal, highWaterMark: 256 * 1024 }));
  return stats.isFile() ? { chunks, sizeBytes: stats.size } : { chunks };
}

/** A stream that is aborted while nobody reads it would end the process. */
function onDemand(open: () => AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => open()[Symbol.asyncIterator]() };
}

function realPathOf(path: string, what = "The file"): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    throw new HoldfastError("NOT_FOUND", `${what} ${path} cannot be found; check its name.`, { cause });
  }
}

/** Closing any descriptor of a database that this process has open drops SQLite's locks on it. */
function assertOutside(file: string, memoryPath: string): void {
  if (!existsSync(memoryPath)) return;
  const folder = realPathOf(memoryPath);
  if (file.startsWith(folder.endsWith("/") ? folder : `${folder}/`))
    throw new HoldfastError("INVALID_ARGUMENT", "The file lies inside the memory's own folder; name a file elsewhere.");
}
