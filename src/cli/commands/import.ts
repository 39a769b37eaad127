import type { Command } from "commander";
import { type Line, readLines } from "../../archive/lines.ts";
import { HoldfastError } from "../../errors/index.ts";
import type { Tenant } from "../../index.ts";
import { recognise } from "../archiving/archive-input.ts";
import { type ArchiveImportFlags, importArchiveFrom } from "../archiving/import-run.ts";
import { UsageError } from "../exit-codes.ts";
import { describeFailure } from "../failure.ts";
import { withMemory, withTenant } from "../folder.ts";
import { ContentIds } from "../importing/content-ids.ts";
import { type EventLine, type LineDefaults, parseEventLine } from "../importing/event-line.ts";
import { Importer } from "../importing/importer.ts";
import { formatRate, Progress } from "../importing/progress.ts";
import { type CommonOptions, folderOf, withCommonOptions, withJson } from "../options.ts";
import type { Input, Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { formatCount, formatDuration } from "../text/quantities.ts";

interface ImportFlags extends CommonOptions, LineDefaults, ArchiveImportFlags {
  readonly skipInvalid?: true;
  readonly json?: true;
}

/** What `--json` prints. */
interface ImportSummary {
  readonly read: number;
  readonly remembered: number;
  readonly present: number;
  readonly pending: number;
  readonly invalid: number;
  readonly seconds: number;
}

const DEFAULT_SESSION_FIELD = "session";

const HELP = `
One JSON object a line; blank lines are passed over:
  {"session": "s1", "user": "alice", "id": "e1", "at": "2026-05-01T12:00:00Z",
   "producer": "alice", "role": "user", "kind": "message",
   "text": "I moved to Lisbon.", "properties": {"topic": "home"}}
Only session and text are needed; "blocks" may stand for "text". Integers of any length keep every digit; {"$datetime": "..."} is an instant.

The import can be repeated: events that are there already are passed over by their id. An event without id gets
"auto-" and a hash of its session and fields (and -2, -3 ... where a session says exactly the same again), so that
running a file again, or from two processes at once, makes no copies. Stopped or killed, run it again to go on.

A file of "holdfast export --archive" is recognised and taken in as it was: all of it or nothing. A tenant that holds
something already is refused.

Examples:
  $ holdfast import conversations.jsonl
  $ zcat archive.jsonl.gz | holdfast import - --path ./archive.holdfast
  $ holdfast import threads.jsonl --session-from thread_id --skip-invalid`;

/** `holdfast import`: many events from a file of JSON lines. */
export function addImport(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("import")
    .summary("remember a file of JSON lines")
    .description("Remembers events from a file of JSON lines, in small commits; sessions are made when missing.")
    .argument("<file>", "the file, or - for standard input")
    .option("--session-from <field>", "the field that names the session", DEFAULT_SESSION_FIELD)
    .option("--session <id>", "the session of lines that name none")
    .option("--user <id>", "the user of lines that name none")
    .option(
      "--skip-invalid",
      "list lines that cannot be remembered and go on; without it the first one ends the import",
    )
    .option("--as <tenant>", "an archive's one tenant gets this id")
    .option("--dry-run", "check the whole archive and write nothing")
    .addHelpText("after", HELP);
  withCommonOptions(withJson(command), surroundings).action(async (file: string, flags: ImportFlags) => {
    // Before the memory is opened: a mistyped name makes no folder.
    const input = surroundings.openInput(file, folderOf(flags));
    const found = await recognise(input);
    assertFitting("archive" in found, flags);
    if ("archive" in found)
      return withMemory(surroundings, folderOf(flags), "create", (memory) =>
        importArchiveFrom(memory, found, flags, surroundings),
      );
    return withTenant(surroundings, flags, "create", (memory) =>
      new ImportRun(memory, surroundings, flags).run(found.lines),
    );
  });
}

function assertFitting(isArchive: boolean, flags: ImportFlags): void {
  const { as, dryRun, tenant, session, user, sessionFrom, skipInvalid } = flags;
  if (!isArchive && (as !== undefined || dryRun))
    throw new UsageError("--as and --dry-run are for archives; this file has lines of events.");
  if (isArchive && tenant !== undefined)
    throw new UsageError(
      "An archive says which tenants it has; give --as <id> to take its one tenant in under another.",
    );
  if (isArchive && (skipInvalid || (session ?? user) !== undefined || sessionFrom !== DEFAULT_SESSION_FIELD))
    throw new UsageError("This file is an archive: leave out --session, --user, --session-from and --skip-invalid.");
}

class ImportRun {
  readonly #surroundings: Surroundings;
  readonly #flags: ImportFlags;
  readonly #importer: Importer;
  readonly #progress: Progress;
  readonly #ids = new ContentIds();
  readonly #startMs: number;
  #read = 0;
  #invalid = 0;
  #bytes = 0;
  #totalBytes: number | undefined;
  /** The first line that was refused, when that ends the import. */
  #refused: HoldfastError | undefined;

  constructor(memory: Tenant, surroundings: Surroundings, flags: ImportFlags) {
    const { stderr, nowMs, signal } = surroundings;
    this.#surroundings = surroundings;
    this.#flags = flags;
    this.#progress = new Progress(stderr, nowMs);
    this.#startMs = nowMs();
    this.#importer = new Importer(memory, {
      signal,
      onInvalid: (number, error) => this.#refuse(number, error),
      onCommit: (lineBytes) => this.#advance(lineBytes),
    });
  }

  async run(input: Input): Promise<void> {
    const { stdout, stderr } = this.#surroundings;
    try {
      await this.#readAll(input);
    } catch (error) {
      this.#progress.clear();
      const hint = error === this.#refused ? "correct the line, or add --skip-invalid, and " : "";
      await stderr.write(`Stopped: ${this.#counts()}. What is remembered stays: ${hint}run the same command again.\n`);
      throw error;
    }
    this.#progress.clear();
    await stdout.write(this.#flags.json ? toJsonLine(this.#summary()) : `${this.#counts()} (${this.#pace()}).\n`);
  }

  async #readAll(input: Input): Promise<void> {
    this.#totalBytes = input.sizeBytes;
    this.#advance(0);
    for await (const line of readLines(input.chunks)) {
      await this.#take(line);
      if (this.#refused !== undefined) break;
    }
    await this.#importer.flush();
    if (this.#refused !== undefined) throw this.#refused;
  }

  async #take(line: Line): Promise<void> {
    if (typeof line.text === "string" && line.text.trim() === "") return this.#advance(line.bytes);
    this.#read += 1;
    let event: EventLine;
    try {
      if (typeof line.text !== "string") throw line.text;
      event = this.#ids.identify(parseEventLine(line.text, this.#flags));
    } catch (error) {
      await this.#refuse(line.number, error);
      return;
    }
    // The text, and what was parsed from it.
    const sizeBytes = line.text.length * 2;
    await this.#importer.add({ ...event, number: line.number, lineBytes: line.bytes, sizeBytes });
  }

  async #refuse(number: number, error: unknown): Promise<void> {
    this.#invalid += 1;
    if (this.#flags.skipInvalid) {
      this.#progress.clear();
      await this.#surroundings.stderr.write(`line ${number}: ${describeFailure(error)}\n`);
      return;
    }
    this.#refused ??= atLine(number, error);
  }

  /** Progress goes by what is remembered, not by what is read: the file is read ahead. */
  #advance(lineBytes: number): void {
    this.#bytes += lineBytes;
    const { remembered, present } = this.#importer.counts;
    this.#progress.update({
      events: remembered + present,
      bytes: this.#bytes,
      ...(this.#totalBytes !== undefined && { totalBytes: this.#totalBytes }),
    });
  }

  #counts(): string {
    const { read, remembered, present, pending, invalid } = this.#summary();
    const [lines, kept, known, refused] = [read, remembered, present, invalid].map(formatCount);
    const waiting =
      pending === 0 ? "" : ` (${formatCount(pending)} of them found by words alone until the embedder works)`;
    return `${lines} read, ${kept} remembered${waiting}, ${known} already there, ${refused} invalid`;
  }

  #pace(): string {
    const { read, seconds } = this.#summary();
    return seconds > 0 ? `${formatDuration(seconds * 1000)}, ${formatRate(read / seconds)}` : formatDuration(0);
  }

  #summary(): ImportSummary {
    const seconds = Math.round(this.#surroundings.nowMs() - this.#startMs) / 1000;
    return { read: this.#read, ...this.#importer.counts, invalid: this.#invalid, seconds };
  }
}

function atLine(number: number, error: unknown): HoldfastError {
  if (!(error instanceof HoldfastError)) throw error;
  return new HoldfastError(error.code, `line ${number}: ${error.message}`, {
    cause: error,
    details: { ...error.details, line: number },
  });
}
