import { type Command, InvalidArgumentError, Option } from "commander";
import type { Surroundings } from "./surroundings.ts";

/** Options that every command has. */
export interface CommonOptions {
  readonly path: string;
  readonly debug?: true;
}

export const DEFAULT_PATH = "./memory.holdfast";

/** Adds `--path` and `--debug`; an empty HOLDFAST_PATH counts as none. */
export function withCommonOptions(command: Command, { env }: Surroundings): Command {
  const fromEnvironment = env.HOLDFAST_PATH;
  const path = fromEnvironment === undefined || fromEnvironment === "" ? DEFAULT_PATH : fromEnvironment;
  return command
    .addOption(new Option("--path <folder>", "the memory's folder (or HOLDFAST_PATH)").default(path).argParser(toPath))
    .option("--debug", "show stacks of errors");
}

/** Adds `--json`. */
export function withJson(command: Command): Command {
  return command.option("--json", "one JSON document on standard output; int64 beyond 2^53 as decimal strings");
}

/** A script's variable that is not set is no folder. */
function toPath(text: string): string {
  if (text !== "") return text;
  throw new InvalidArgumentError("Give the path of a folder.");
}

/** A whole number for an option. */
export function toCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a whole number.");
}

/** A cosine for an option. */
export function toCosine(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= -1 && value <= 1) return value;
  throw new InvalidArgumentError("Give a number from -1 to 1.");
}
