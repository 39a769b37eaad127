import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Output } from "../../../src/cli/output.ts";
import { run } from "../../../src/cli/program.ts";
import { processSurroundings } from "../../../src/cli/surroundings.ts";
import { type Embedder, openMemory, repairFolder, restore, verifyFolder } from "../../../src/index.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Of the process once: each watches the process's own streams. */
const SURROUNDINGS = processSurroundings(new AbortController().signal);

export interface Bed {
  readonly folder: string;
  readonly path: string;
  cli(...args: readonly string[]): Promise<Ran>;
}

/** What a terminal is to the command line. */
export type Screen = Pick<Output, "isTerminal" | "columns" | "styled">;

const PIPE: Screen = { isTerminal: false, columns: Number.POSITIVE_INFINITY, styled: false };

export function terminal(columns: number): Screen {
  return { isTerminal: true, columns, styled: false };
}

/** Runs commands on one folder, with the process's own files; `ask` is who sits at the terminal. */
export function bed(
  ask?: (question: string) => Promise<string>,
  screen: Screen = PIPE,
  embedder: Embedder = createHashEmbedder(),
): Bed {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-usage-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "memory.holdfast");
  const cli = async (...args: readonly string[]): Promise<Ran> => {
    const [out, err]: [string[], string[]] = [[], []];
    const code = await run(args, {
      ...SURROUNDINGS,
      stdout: collect(out, screen),
      stderr: collect(err, screen),
      ...(ask !== undefined && { ask }),
      env: { HOLDFAST_PATH: path },
      openMemory: (place) => openMemory({ path: place, threads: "inline", embedder }),
      restore: (backup, place, options) => restore(backup, place, { ...options, threads: "inline" }),
      repairFolder: (place, options) => repairFolder(place, { ...options, threads: "inline" }),
      verifyFolder: (place, options) => verifyFolder(place, { ...options, threads: "inline" }),
    });
    return { code, out: out.join(""), err: err.join("") };
  };
  return { folder, path, cli };
}

function collect(written: string[], screen: Screen): Output {
  return {
    ...screen,
    async write(text) {
      written.push(text);
    },
    closed: false,
    failure: undefined,
  };
}
