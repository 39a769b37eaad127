import { type Command, InvalidArgumentError, Option } from "commander";
import { parseDate, parseDatetime } from "../contract/datetime.ts";
import type { UserInputValue } from "../contract/property-values.ts";
import { isHoldfastError } from "../errors/index.ts";
import { parse } from "../index.ts";
import { toPropertyValue } from "./importing/event-line.ts";
import { parseExactJson } from "./importing/exact-json.ts";
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

const FOLDER = "the memory's folder; also --dir, or HOLDFAST_PATH";

/** Adds `--path`, its other name `--dir`, `--tenant` and `--debug`. */
export function withCommonOptions(command: Command, surroundings: Surroundings): Command {
  const tenant = new Option("--tenant <id>", "a tenant's memory in the folder; without it the default one");
  return withFolderOptions(command, surroundings).addOption(tenant.argParser(toId));
}

/** The same for what concerns the whole folder; an empty HOLDFAST_PATH counts as none. */
export function withFolderOptions(command: Command, { env }: Surroundings): Command {
  const fromEnvironment = env.HOLDFAST_PATH;
  const path = fromEnvironment === undefined || fromEnvironment === "" ? DEFAULT_PATH : fromEnvironment;
  return command
    .optionsGroup("Options of every command:")
    .addOption(new Option("--path <folder>", FOLDER).default(path).argParser(toPath))
    .addOption(new Option("--dir <folder>", "another name of --path").argParser(toPath).hideHelp())
    .option("--debug", "show stacks of errors")
    .helpOption("-h, --help", "show this help");
}

/** Adds `--json`. */
/** How a call that changes something is repeated without doing it twice. */
export interface KeyFlags {
  readonly idempotencyKey?: string;
}

export function withIdempotencyKey(command: Command): Command {
  return command.option("--idempotency-key <key>", "a key of your own: a retry with it does the work once");
}

/** The call's option, where a key was given. */
export function keyOption({ idempotencyKey }: KeyFlags): { readonly idempotencyKey?: string } {
  return idempotencyKey === undefined ? {} : { idempotencyKey };
}

export function withJson(command: Command): Command {
  return command.option("--json", "one JSON document on standard output");
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

/** Properties that an option collects. */
export type PropertyFlags = Readonly<Record<string, UserInputValue>>;

/** What `--property` takes, for its description. */
export const PROPERTY_SYNTAX = "key=text, or key:=json for a number or a bool; may be repeated";

/** Collects `key=text` and `key:=json` of an option that may be repeated; a filter tells `'2026'` from `2026`. */
export function addProperty(pair: string, before: PropertyFlags = {}): PropertyFlags {
  const equals = pair.indexOf("=");
  const isJson = pair[equals - 1] === ":";
  const key = pair.slice(0, isJson ? equals - 1 : equals);
  if (equals < 1 || key === "") throw new InvalidArgumentError("Give key=text, or key:=json.");
  if (Object.hasOwn(before, key)) throw new InvalidArgumentError("The key is given twice; a property has one value.");
  const text = pair.slice(equals + 1);
  return { ...before, [key]: isJson ? toJsonValue(text) : text };
}

function toJsonValue(json: string): UserInputValue {
  try {
    const value = toPropertyValue(parseExactJson(json));
    if (typeof value === "object" ? value !== null && "datetime" in value : value !== undefined) return value;
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
  }
  throw new InvalidArgumentError(
    'Behind := stands a JSON value: 2026, 1.5, true, "text" or {"$datetime": "2026-05-01T12:00:00Z"}.',
  );
}
