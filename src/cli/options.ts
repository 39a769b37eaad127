import { type Command, InvalidArgumentError, Option } from "commander";
import { parseDate, parseDatetime } from "../contract/datetime.ts";
import { isHoldfastError } from "../errors/index.ts";
import { parse } from "../index.ts";
import type { Surroundings } from "./surroundings.ts";
import { toPrintableLine } from "./text/printable.ts";
import { displayWidth } from "./text/width.ts";

/** Options that every command has. */
export interface CommonOptions {
  readonly path: string;
  readonly dir?: string;
  readonly tenant?: string;
  readonly debug?: true;
}

/** Where the memory is. */
export function folderOf({ path, dir }: CommonOptions): string {
  return dir ?? path;
}

export const DEFAULT_PATH = "./memory.holdfast";

/** Adds `--path`, its other name `--dir`, `--tenant` and `--debug`; an empty HOLDFAST_PATH counts as none. */
export function withCommonOptions(command: Command, { env }: Surroundings): Command {
  const fromEnvironment = env.HOLDFAST_PATH;
  const path = fromEnvironment === undefined || fromEnvironment === "" ? DEFAULT_PATH : fromEnvironment;
  return command
    .addOption(new Option("--path <folder>", "the memory's folder (or HOLDFAST_PATH)").default(path).argParser(toPath))
    .addOption(new Option("--dir <folder>", "another name of --path").argParser(toPath))
    .addOption(
      new Option("--tenant <id>", "a tenant's memory in the folder; without it the default one").argParser(toId),
    )
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

function toId(text: string): string {
  if (text !== "") return text;
  throw new InvalidArgumentError("Give an id.");
}

/** A filter for an option; where it cannot be read, the place is shown under it. */
export function toFilter(text: string): string {
  try {
    parse(text);
    return text;
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    const { position } = error.details as { readonly position?: number };
    const shown = typeof position === "number" ? caretUnder(text, position) : "";
    throw new InvalidArgumentError(`${error.code}: ${error.message}${shown}`);
  }
}

/** The line of the text that holds the position, and `^` under it. */
function caretUnder(text: string, position: number): string {
  const start = text.lastIndexOf("\n", position - 1) + 1;
  const [line = ""] = text.slice(start).split("\n", 1);
  const shown = toPrintableLine(line.slice(0, position - start));
  return `\n  ${shown}${toPrintableLine(line.slice(position - start))}\n  ${" ".repeat(displayWidth(shown))}^`;
}

/** A time for an option: RFC 3339, or a date alone, which is midnight in UTC. */
export function toTime(text: string): string {
  if (parseDatetime(text) !== undefined) return text;
  if (parseDate(text) !== undefined) return `${text}T00:00:00Z`;
  throw new InvalidArgumentError("Give a time such as 2026-05-01T12:00:00Z or 2026-05-01T14:00:00+02:00, or a date.");
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

/** Collects `key=text` pairs of an option that may be repeated. */
export function addProperty(
  pair: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const equals = pair.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("Give key=text.");
  const key = pair.slice(0, equals);
  if (Object.hasOwn(before, key)) throw new InvalidArgumentError("The key is given twice; a property has one value.");
  return { ...before, [key]: pair.slice(equals + 1) };
}
