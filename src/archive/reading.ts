import { LIMITS } from "../contract/limits.ts";
import { assertName } from "../contract/names.ts";
import { isPropertyKind } from "../contract/properties.ts";
import { HoldfastError, isHoldfastError } from "../errors/index.ts";
import { giveWay } from "../io/clock.ts";
import {
  ARCHIVE_NUMBER_MAX,
  ARCHIVE_VERSION,
  type ArchiveCounts,
  type ArchivedEvent,
  type ArchivedRevision,
  type ArchivedSegment,
  type ArchiveHead,
  type ArchiveRecord,
  counted,
  NO_COUNTS,
} from "./archived.ts";
import { ARCHIVE_START, type ArchivePlace, openLine } from "./check-chain.ts";
import { contentOf, segmentOf, textOf } from "./line-contents.ts";
import { invalid, isObject, LineFields } from "./line-fields.ts";
import { type Line, readLines } from "./lines.ts";
import { LINE_UNITS_MAX, PieceStore } from "./long-texts.ts";

/** Far above what a line of ours has: texts are cut into pieces, and a segment has at most 64 vectors. */
const LINE_BYTES_MAX = 32 * 1024 * 1024;
const NAME_LENGTH_MAX = 16_384;
const COUNT_MAX = Number.MAX_SAFE_INTEGER;

/** A record of an archive, where its first line stands, and the place behind its last. */
export interface ReadRecord {
  readonly record: ArchiveRecord;
  readonly line: number;
  readonly place: ArchivePlace;
  /** Bytes of the source up to here. */
  readonly bytes: number;
}

/**
 * Reads an archive record by record. Each line is checked to follow the one before it, and to say what this version
 * knows; the last record is the end, whose counts are those of what was read.
 *
 * @throws INVALID_ARCHIVE with the line in its details; FORMAT_TOO_NEW
 */
export async function* readArchive(source: AsyncIterable<Uint8Array>): AsyncGenerator<ReadRecord> {
  const reader = new ArchiveReader();
  for await (const line of readLines(source, LINE_BYTES_MAX)) {
    await giveWay();
    const record = atLine(line.number, () => reader.read(line));
    if (record !== undefined) yield record;
  }
  if (!reader.isAtEnd) {
    const message = `The archive ends behind line ${reader.lines} and lacks its last line: it was cut off, or is still being written; take a whole copy.`;
    throw new HoldfastError("INVALID_ARCHIVE", message, { details: { line: reader.lines + 1 } });
  }
}

function atLine<T>(line: number, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    if (error.code === "FORMAT_TOO_NEW" || error.code === "INVALID_ARCHIVE") throw error;
    throw invalidAt(line, error);
  }
}

/** What is wrong with a line, with where that is. */
export function invalidAt(line: number, cause: HoldfastError): HoldfastError {
  const message = `Line ${line} of the archive cannot be taken in: ${cause.message.replace(/\.$/, "")}. Nothing of the archive was made visible; export anew.`;
  return new HoldfastError("INVALID_ARCHIVE", message, { cause, details: { line, reason: cause.code } });
}

/** In which order lines stand: a line follows one of its own part or of an earlier one. */
const PARTS = { head: 0, space: 1, pipeline: 2, key: 3, tenant: 4, session: 5, event: 6, summary: 7, end: 8 } as const;

type Part = keyof typeof PARTS;

/** An event whose revisions and segments are still to come. */
interface OpenEvent {
  readonly line: number;
  readonly event: Omit<ArchivedEvent, "revisions" | "segments">;
  readonly revisions: ArchivedRevision[];
  readonly segments: ArchivedSegment[];
  readonly revisionsDue: number;
  readonly segmentsDue: number;
}

class ArchiveReader {
  #place: ArchivePlace = ARCHIVE_START;
  #bytes = 0;
  #part: Part | undefined;
  #head: ArchiveHead | undefined;
  #dimensions: number | undefined;
  #counts: ArchiveCounts = NO_COUNTS;
  readonly #pieces = new PieceStore();
  #open: OpenEvent | undefined;

  get isAtEnd(): boolean {
    return this.#part === "end";
  }

  get lines(): number {
    return this.#place.lines;
  }

  /** The record that the line completes. */
  read({ text, number, bytes }: Line): ReadRecord | undefined {
    if (typeof text !== "string") throw text;
    if (this.isAtEnd) throw invalid("it stands behind the archive's last line");
    const opened = openLine(text, this.#place);
    if (opened === undefined) throw altered(number, text);
    this.#place = opened.place;
    this.#bytes += bytes;
    const parsed = parse(opened.body);
    const found = isObject(parsed) && "holdfast" in parsed ? "head" : new LineFields(parsed).take("type");
    const fields = new LineFields(parsed);
    fields.take("type");
    const completed = this.#take(found, fields, number);
    fields.assertTaken();
    if (completed === undefined) return undefined;
    this.#counts = counted(this.#counts, completed.record);
    return { ...completed, place: this.#place, bytes: this.#bytes };
  }

  #take(type: unknown, fields: LineFields, line: number): Pick<ReadRecord, "record" | "line"> | undefined {
    if (type === "text") {
      if (this.#head === undefined) throw invalid("an archive begins with its head");
      this.#pieces.add(fields.text("text", LINE_UNITS_MAX));
      return undefined;
    }
    if (type === "revision" || type === "segment") return this.#continue(type, fields);
    if (typeof type !== "string" || !Object.hasOwn(PARTS, type))
      throw invalid("its type is none that this version knows");
    if (this.#open !== undefined) throw invalid("the event before it lacks revisions or segments");
    this.#enter(type as Part);
    const record = this.#record(type as Part, fields, line);
    if (!this.#pieces.isEmpty) throw invalid("pieces of text stand before it that it does not name");
    return record && { record, line };
  }

  /** Parts follow each other in their order; a tenant begins it again. One head, one space. */
  #enter(part: Part): void {
    const before = this.#part;
    const isNext = before === undefined ? part === "head" : PARTS[part] > PARTS[before];
    const isSame = part === before && part !== "head" && part !== "space";
    const isTenant = part === "tenant" && before !== undefined && PARTS[before] >= PARTS.tenant;
    const lacksTenant = PARTS[part] > PARTS.tenant && part !== "end" && this.#counts.tenants === 0;
    if (!(isNext || isSame || isTenant) || lacksTenant) throw invalid("it stands in the wrong place");
    this.#part = part;
  }

  #record(part: Part, fields: LineFields, line: number): ArchiveRecord | undefined {
    switch (part) {
      case "head":
        this.#head = headOf(fields);
        return { type: part, head: this.#head };
      case "space": {
        const identity = fields.text("identity", NAME_LENGTH_MAX);
        this.#dimensions = fields.count("dimensions", 1, LIMITS.dimensionsMax);
        const space = { identity, dimensions: this.#dimensions, createdAt: fields.instant("createdAt") };
        return { type: part, space };
      }
      case "pipeline": {
        const [segmenter, derive] = [fields.text("segmenter", NAME_LENGTH_MAX), fields.text("derive", NAME_LENGTH_MAX)];
        return { type: part, pipeline: { segmenter, derive, firstAt: fields.instant("firstAt") } };
      }
      case "key": {
        const [name, kind] = [fields.take("name"), fields.take("kind")];
        assertName(name, "declared key");
        if (!isPropertyKind(kind)) throw invalid("kind is a type of properties");
        return { type: part, key: { name, kind } };
      }
      case "tenant":
        return { type: part, tenant: { id: fields.id("id"), createdAt: fields.instant("createdAt") } };
      case "session": {
        const [id, user] = [fields.id("id"), fields.optionalId("user")];
        return { type: part, session: { id, user, createdAt: fields.instant("createdAt") } };
      }
      case "event":
        return this.#begin(fields, line);
      case "summary":
        return { type: part, summary: this.#summary(fields) };
      case "end":
        return { type: part, counts: this.#end(fields) };
      default:
        return part satisfies never;
    }
  }

  #begin(fields: LineFields, line: number): ArchiveRecord | undefined {
    const number = fields.count("number", 1, this.#head?.lastEvent ?? 0);
    const [session, id] = [fields.id("session"), fields.id("id")];
    const { microseconds: at, offset: atOffset } = fields.instantWithOffset("at");
    const [producer, role, kind] = [
      fields.optionalId("producer"),
      fields.optionalId("role"),
      fields.optionalId("kind"),
    ];
    const content = contentOf(fields, this.#pieces);
    const revision = fields.count("revision", 1, COUNT_MAX);
    const [createdAt, updatedAt] = [fields.instant("createdAt"), fields.optionalInstant("updatedAt")];
    const revisionsDue = fields.count("revisions", 0, revision - 1);
    const segmentsDue = fields.count("segments", 0, COUNT_MAX);
    const event = {
      number,
      session,
      id,
      at,
      atOffset,
      producer,
      role,
      kind,
      ...content,
      revision,
      createdAt,
      updatedAt,
    };
    this.#open = { line, event, revisions: [], segments: [], revisionsDue, segmentsDue };
    return this.#completed()?.record;
  }

  /** A revision or a segment of the event before it. */
  #continue(type: "revision" | "segment", fields: LineFields): Pick<ReadRecord, "record" | "line"> | undefined {
    const open = this.#open;
    if (open === undefined) throw invalid("it belongs to no event");
    const { revisions, segments, revisionsDue } = open;
    if (type === "revision") {
      if (revisions.length === revisionsDue) throw invalid("the event has more revisions than it says");
      const revision = fields.count("revision", (revisions.at(-1)?.revision ?? 0) + 1, open.event.revision - 1);
      const content = contentOf(fields, this.#pieces);
      revisions.push({ revision, ...content, replacedAt: fields.instant("replacedAt") });
    } else {
      if (revisions.length < revisionsDue) throw invalid("the event has fewer revisions than it says");
      const numberMax = this.#head?.lastSegment ?? 0;
      const segment = segmentOf(fields, { numberMax, dimensions: this.#dimensions });
      if (segment.number <= (segments.at(-1)?.number ?? 0))
        throw invalid("segments stand in the order of their numbers");
      segments.push(segment);
    }
    if (!this.#pieces.isEmpty) throw invalid("pieces of text stand before it that it does not name");
    return this.#completed();
  }

  #completed(): Pick<ReadRecord, "record" | "line"> | undefined {
    const open = this.#open;
    if (open === undefined) return undefined;
    const { event, revisions, segments, revisionsDue, segmentsDue } = open;
    if (revisions.length < revisionsDue || segments.length < segmentsDue) return undefined;
    this.#open = undefined;
    return { record: { type: "event", event: { ...event, revisions, segments } }, line: open.line };
  }

  #summary(fields: LineFields) {
    const session = fields.id("session");
    const text = textOf(fields.take("text"), this.#pieces, "text");
    const [from, to] = [fields.id("from"), fields.id("to")];
    const events = fields.count("events", 1, COUNT_MAX);
    const version = fields.text("version", 128);
    return { session, text, from, to, events, version, updatedAt: fields.instant("updatedAt") };
  }

  #end(fields: LineFields): ArchiveCounts {
    const lines = fields.count("lines", 1, COUNT_MAX);
    const damaged = fields.count("damaged", 0, COUNT_MAX);
    const names = Object.keys(NO_COUNTS).filter((name) => name !== "damaged") as (keyof ArchiveCounts)[];
    const differs = names.find((name) => fields.count(name, 0, COUNT_MAX) !== this.#counts[name]);
    if (differs !== undefined) throw invalid(`its count of ${differs} is not that of the lines before it`);
    if (lines !== this.#place.lines) throw invalid("its count of lines is not that of the lines before it");
    if (this.#counts.tenants !== this.#head?.tenants) throw invalid("there are not as many tenants as the head says");
    return { ...this.#counts, damaged };
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    // V8's message quotes a part of the text, which is private.
    throw new HoldfastError("INVALID_ARGUMENT", "it is no JSON", { cause });
  }
}

function headOf(fields: LineFields): ArchiveHead {
  if (fields.take("holdfast") !== "archive") throw invalid("it is not the head of an archive");
  const version = fields.count("version", 1, COUNT_MAX);
  if (version > ARCHIVE_VERSION) {
    const message = `The archive has version ${version}; this version of Holdfast reads up to ${ARCHIVE_VERSION}: update the package.`;
    throw new HoldfastError("FORMAT_TOO_NEW", message, { details: { version, supported: ARCHIVE_VERSION, line: 1 } });
  }
  const [id, createdAt] = [fields.id("id"), fields.instant("createdAt")];
  const tenants = fields.count("tenants", 0, COUNT_MAX);
  const lastEvent = fields.count("lastEvent", 0, ARCHIVE_NUMBER_MAX);
  const lastSegment = fields.count("lastSegment", 0, ARCHIVE_NUMBER_MAX);
  return { id, createdAt, tenants, lastEvent, lastSegment };
}

/** A head of a newer version may be checked in another way: its version is what there is to say. */
function altered(line: number, text: string): HoldfastError {
  const version = line === 1 ? /^\{"holdfast":"archive","version":(\d{1,9})[,}]/.exec(text)?.[1] : undefined;
  if (version !== undefined && Number(version) > ARCHIVE_VERSION)
    headOf(new LineFields({ holdfast: "archive", version: Number(version) }));
  if (line === 1 && !text.startsWith('{"holdfast":"archive"')) {
    const message = "This is no archive of Holdfast: its first line is not an archive's head.";
    return new HoldfastError("INVALID_ARCHIVE", message, { details: { line } });
  }
  const message = `Line ${line} of the archive does not follow the line before it: something was altered, left out, doubled or moved. Take an unaltered copy, or export anew.`;
  return new HoldfastError("INVALID_ARCHIVE", message, { details: { line } });
}
