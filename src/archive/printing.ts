import { formatDatetime } from "../contract/datetime.ts";
import type { UserValue } from "../contract/property-values.ts";
import {
  ARCHIVE_VERSION,
  type ArchivedBlock,
  type ArchivedContent,
  type ArchivedEvent,
  type ArchivedSegment,
  type ArchiveRecord,
} from "./archived.ts";
import { ARCHIVE_START, type ArchivePlace, sealLine } from "./check-chain.ts";
import { LongTexts } from "./long-texts.ts";

/** Writes records as the lines of an archive, each closed with its check. */
export class ArchivePrinter {
  #place: ArchivePlace;
  #text: string[] = [];
  #units = 0;

  /** @param place - behind the lines that were written before */
  constructor(place: ArchivePlace = ARCHIVE_START) {
    this.#place = place;
  }

  get place(): ArchivePlace {
    return this.#place;
  }

  /** UTF-16 units that wait to be taken. */
  get units(): number {
    return this.#units;
  }

  /** What was printed since the last call. */
  take(): string {
    const text = this.#text.join("");
    this.#text = [];
    this.#units = 0;
    return text;
  }

  print(record: ArchiveRecord): void {
    switch (record.type) {
      case "head": {
        const { id, createdAt, tenants, lastEvent, lastSegment } = record.head;
        const created = formatDatetime(createdAt);
        this.#line({
          holdfast: "archive",
          version: ARCHIVE_VERSION,
          id,
          createdAt: created,
          tenants,
          lastEvent,
          lastSegment,
        });
        return;
      }
      case "space": {
        const { identity, dimensions, createdAt } = record.space;
        this.#line({ type: "space", identity, dimensions, createdAt: formatDatetime(createdAt) });
        return;
      }
      case "pipeline": {
        const { segmenter, derive, firstAt } = record.pipeline;
        this.#line({ type: "pipeline", segmenter, derive, firstAt: formatDatetime(firstAt) });
        return;
      }
      case "key":
        this.#line({ type: "key", name: record.key.name, kind: record.key.kind });
        return;
      case "tenant":
        this.#line({ type: "tenant", id: record.tenant.id, createdAt: formatDatetime(record.tenant.createdAt) });
        return;
      case "session": {
        const { id, user, createdAt } = record.session;
        this.#line({ type: "session", id, user, createdAt: formatDatetime(createdAt) });
        return;
      }
      case "event":
        this.#event(record.event);
        return;
      case "summary": {
        const { session, text, from, to, events, version, updatedAt } = record.summary;
        const kept = this.#texts().put(text);
        this.#line({
          type: "summary",
          session,
          text: kept,
          from,
          to,
          events,
          version,
          updatedAt: formatDatetime(updatedAt),
        });
        return;
      }
      case "end":
        this.#line({ type: "end", lines: this.#place.lines + 1, ...record.counts });
        return;
      default:
        record satisfies never;
    }
  }

  #event(event: ArchivedEvent): void {
    const { number, session, id, producer, role, kind, revision, updatedAt } = event;
    this.#line({
      type: "event",
      number,
      session,
      id,
      at: formatDatetime(event.at),
      offset: event.atOffset === "Z" ? undefined : event.atOffset,
      producer,
      role,
      kind,
      ...this.#content(event),
      revision,
      createdAt: formatDatetime(event.createdAt),
      updatedAt: updatedAt === undefined ? undefined : formatDatetime(updatedAt),
      revisions: event.revisions.length,
      segments: event.segments.length,
    });
    for (const earlier of event.revisions) {
      const replacedAt = formatDatetime(earlier.replacedAt);
      this.#line({ type: "revision", revision: earlier.revision, ...this.#content(earlier), replacedAt });
    }
    for (const segment of event.segments) this.#line(segmentFields(segment));
  }

  #content({ text, blocks, properties }: ArchivedContent): object {
    const texts = this.#texts();
    return {
      ...(text !== undefined && { text: texts.put(text) }),
      ...(blocks !== undefined && { blocks: blocks.map((block) => blockFields(block, texts)) }),
      ...(properties.size > 0 && {
        properties: propertyForms(properties, texts),
      }),
    };
  }

  #texts(): LongTexts {
    return new LongTexts((piece) => this.#line({ type: "text", text: piece }));
  }

  #line(fields: object): void {
    const { line, place } = sealLine(JSON.stringify(fields), this.#place);
    this.#place = place;
    this.#text.push(line, "\n");
    this.#units += line.length + 1;
  }
}

function segmentFields({ number, start, end, vectors, pending }: ArchivedSegment): object {
  const place = { type: "segment", number, start, end };
  if (pending === undefined) return { ...place, vectors: vectors.map(toBase64) };
  const { state, attempts, nextAt, reason } = pending;
  return { ...place, pending: { state, attempts, nextAt: formatDatetime(nextAt), reason } };
}

function toBase64({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

/** Data that is too long is the pieces of its JSON: an object of its own could say `$pieces` too. */
function blockFields({ type, text, data }: ArchivedBlock, texts: LongTexts): object {
  const kept = text === undefined ? {} : { text: texts.put(text) };
  if (data === undefined) return { type, ...kept };
  const json = texts.put(JSON.stringify(data));
  return typeof json === "string" ? { type, ...kept, data } : { type, ...kept, dataPieces: json.$pieces };
}

/** Names that look like numbers come first in an object, whatever the order; pieces go ahead in the order of the line. */
function propertyForms(properties: ArchivedContent["properties"], texts: LongTexts): object {
  const names = Object.keys(Object.fromEntries(properties));
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = properties.get(name);
      return value === undefined ? [] : [[name, valueForm(value, texts)]];
    }),
  );
}

/** A property in the form that JSON keeps exactly. */
function valueForm(property: UserValue, texts: LongTexts): unknown {
  switch (property.kind) {
    case "bool":
      return property.value;
    case "string":
      return texts.put(property.value);
    case "datetime": {
      const instant = { $datetime: formatDatetime(property.value) };
      return property.offset === "Z" ? instant : { ...instant, offset: property.offset };
    }
    case "number": {
      const { value } = property;
      if (typeof value === "bigint") return { $int: value.toString() };
      // JSON would write such a float with the digits of an integer.
      return Number.isInteger(value) && !Number.isSafeInteger(value) ? { $float: value.toExponential() } : value;
    }
    default:
      return property satisfies never;
  }
}
