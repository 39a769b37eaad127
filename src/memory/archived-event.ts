import type {
  ArchivedBlock,
  ArchivedContent,
  ArchivedEvent,
  ArchivedRevision,
  ArchivedSegment,
} from "../archive/archived.ts";
import { compareUtf8 } from "../contract/text.ts";
import { HoldfastError } from "../errors/index.ts";
import type { UserProperties } from "../segments/sqlite/event-properties.ts";
import type { EarlierRevision } from "../segments/sqlite/event-revisions.ts";
import { FIRST_REVISION, type NewEvent, type StoredEvent } from "../segments/sqlite/events.ts";
import { type Block, splitBlocks } from "./blocks.ts";
import { assertPropertyCount, digestOf, toContent } from "./event-input.ts";

/** An event of an archive as it will be written: everything in it is checked, and its digests are made. */
export interface TakenEvent extends Pick<ArchivedEvent, "number" | "session" | "revision" | "createdAt" | "updatedAt"> {
  readonly event: NewEvent;
  readonly firstDigest: string;
  readonly revisions: readonly EarlierRevision[];
  readonly segments: readonly ArchivedSegment[];
}

/**
 * Checks what an archive says of an event as if it were remembered.
 *
 * @throws INVALID_TEXT, LIMIT_EXCEEDED, INVALID_ARGUMENT
 */
export function toTakenEvent(archived: ArchivedEvent): TakenEvent {
  const { number, session, id, at, atOffset, producer, role, kind, revision, createdAt, updatedAt } = archived;
  const said = { id, at, atOffset, atGiven: true, producer, role, kind };
  const toEvent = (content: ArchivedContent): NewEvent => {
    const event = { ...said, ...contentOf(content) };
    return { ...event, digest: digestOf(event) };
  };
  const event = toEvent(archived);
  assertSegments(event.text, archived.segments);
  const revisions = archived.revisions.map((earlier) => ({
    ...contentOf(earlier),
    revision: earlier.revision,
    replacedAt: earlier.replacedAt,
  }));
  const first = archived.revisions.find((earlier) => earlier.revision === FIRST_REVISION);
  const firstDigest = first === undefined ? event.digest : toEvent(first).digest;
  return {
    number,
    session,
    revision,
    createdAt,
    updatedAt,
    event,
    firstDigest,
    revisions,
    segments: archived.segments,
  };
}

function contentOf({ text, blocks, properties }: ArchivedContent): Pick<NewEvent, "text" | "blocks" | "properties"> {
  assertPropertyCount(properties.size);
  const content = toContent(blocks === undefined ? { text: text ?? "" } : { blocks: blocks as readonly Block[] });
  // In the order in which the database answers them, so that both write the same row.
  return { ...content, properties: new Map([...properties].sort(([a], [b]) => compareUtf8(a, b))) };
}

function assertSegments(text: string, segments: readonly ArchivedSegment[]): void {
  let last = 0;
  for (const { start, end } of segments) {
    if (start < last || end > text.length)
      throw new HoldfastError("INVALID_ARGUMENT", "a segment overlaps the one before it or reaches beyond the text");
    if (isInsidePair(text, start) || isInsidePair(text, end))
      throw new HoldfastError("INVALID_ARGUMENT", "a segment ends between the halves of a surrogate pair");
    last = end;
  }
}

function isInsidePair(text: string, at: number): boolean {
  const [before, behind] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before >= 0xd800 && before < 0xdc00 && behind >= 0xdc00 && behind < 0xe000;
}

/** A stored event in the form in which an archive has it. */
export function toArchivedEvent(
  stored: StoredEvent,
  revisions: readonly EarlierRevision[],
  segments: readonly ArchivedSegment[],
): ArchivedEvent {
  const { event: number, session, id, at, atOffset, producer, role, kind, revision, createdAt, updatedAt } = stored;
  return {
    ...{ number, session, id, at, atOffset, producer, role, kind, revision, createdAt, updatedAt },
    ...toArchivedContent(stored),
    revisions: revisions.map(
      (earlier): ArchivedRevision => ({
        revision: earlier.revision,
        replacedAt: earlier.replacedAt,
        ...toArchivedContent(earlier),
      }),
    ),
    segments,
  };
}

function toArchivedContent(content: {
  readonly text: string;
  readonly blocks: string | undefined;
  readonly properties: UserProperties;
}): ArchivedContent {
  const { text, blocks, properties } = content;
  if (blocks === undefined) return { text, blocks, properties };
  return { text: undefined, blocks: splitBlocks({ text, blocks }) as readonly ArchivedBlock[], properties };
}
