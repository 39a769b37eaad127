import { createReadStream, existsSync, realpathSync, statSync } from "node:fs"; // tidy: the user's own input, never a file of a memory
import { addAbortSignal } from "node:stream";
import { HoldfastError } from "../errors/index.ts";
import { type Memory, openMemory } from "../index.ts";
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
  /** Standard input for `-`; `memoryPath` is the folder that must not be read from. Raises for what is no file. */
  openInput(path: string, memoryPath: string): Input;
}

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
    openInput: (path, memoryPath) => (path === "-" ? openStandardInput(signal) : openFile(path, memoryPath, signal)),
  };
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

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    throw new HoldfastError("NOT_FOUND", `The file ${path} cannot be found; check its name.`, { cause });
  }
}

/** Closing any descriptor of a database that this process has open drops SQLite's locks on it. */
function assertOutside(file: string, memoryPath: string): void {
  if (!existsSync(memoryPath)) return;
  const folder = realPathOf(memoryPath);
  if (file.startsWith(folder.endsWith("/") ? folder : `${folder}/`))
    throw new HoldfastError(
      "INVALID_ARGUMENT",
      "The file lies inside the memory's own folder; import a file of yours.",
    );
}
