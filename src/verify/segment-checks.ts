import { valuesOf } from "../backends/embedded/codec.ts";
import { columnName } from "../backends/embedded/tables.ts";
import type { BoundProperties } from "../contract/properties.ts";
import type { Connection } from "../database/connection.ts";
import { currentSpace } from "../embedding/spaces.ts";
import { textRanges } from "../memory/blocks.ts";
import { columnOf, type DeclaredKey, declaredKeys } from "../memory/declared-keys.ts";
import { toColumnValue } from "../memory/declared-values.ts";
import { vectorId } from "../memory/derivatives.ts";
import { searchableText } from "../memory/segment-records.ts";
import { partitionKey } from "../memory/tenants.ts";
import { VECTOR_PROPERTIES } from "../memory/vector-records.ts";
import type { StoreRow } from "../registry/stores.ts";
import { segmentChecksum } from "../segments/sqlite/checksums.ts";
import type { StoredEvent } from "../segments/sqlite/events.ts";
import type { SegmentRange } from "../segments/sqlite/segments.ts";
import { toTokenString } from "../segments/sqlite/terms.ts";
import { TOKENIZER_VERSION, tokeniseWords } from "../segments/words.ts";
import { storesOf } from "./stored-stores.ts";
import type { Verification } from "./verification.ts";

interface SegmentRow extends SegmentRange {
  readonly segment: number;
  readonly checksum: number;
  readonly vectors: number;
  readonly tokenString: string;
}

/** What is made of an event, held against the event: ranges, words, vectors and the values beside them. */
export class EventSegments {
  readonly #verification: Verification;
  readonly #connection: Connection;
  readonly #vectors: VectorTables | undefined;
  readonly #areWordsCurrent: boolean;

  constructor(verification: Verification) {
    this.#verification = verification;
    this.#connection = verification.connection;
    this.#vectors = vectorTables(this.#connection);
    const version = this.#connection.prepare("SELECT tokenizer_version FROM text_index").get()?.tokenizer_version;
    // Another version's words are made anew by the next open.
    this.#areWordsCurrent = Number(version) === TOKENIZER_VERSION;
  }

  /** Reports what is wrong with the segments of an event whose own checksum holds. */
  check(tenant: number, event: StoredEvent): void {
    const rows = segmentRows(this.#connection, event.event);
    const whole: SegmentRow[] = [];
    for (const row of rows) {
      this.#verification.counts.segments += 1;
      if (this.#isWhole(tenant, event, row)) whole.push(row);
    }
    const gap = uncoveredText(event, whole);
    if (gap !== undefined) {
      const message = `The text from ${gap.start} to ${gap.end} is in no segment that is whole, and so not found.`;
      this.#verification.report("coverage", "events", event.event, message);
    }
    const values = this.#vectors && columnValues(event, this.#vectors.keys);
    for (const row of whole) {
      this.#checkWords(event, row);
      this.#checkVectors(tenant, row, values ?? []);
    }
  }

  #isWhole(tenant: number, event: StoredEvent, row: SegmentRow): boolean {
    const isInside = row.start >= 0 && row.start < row.end && row.end <= event.text.length;
    if (isInside && segmentChecksum(tenant, event, row) === row.checksum) return true;
    const message = isInside ? "The segment's checksum does not hold." : "The segment reaches beyond its event's text.";
    this.#verification.report("segment", "segments", row.segment, message);
    return false;
  }

  #checkWords(event: StoredEvent, row: SegmentRow): void {
    if (!this.#areWordsCurrent) return;
    if (toTokenString(tokeniseWords(searchableText(event, row))) === row.tokenString) return;
    this.#verification.report("words", "segments", row.segment, "The segment's words are not those of its text.");
  }

  #checkVectors(tenant: number, { segment, vectors }: SegmentRow, values: BoundProperties): void {
    const report = (message: string): void =>
      this.#verification.report("segment-vectors", "segments", segment, message);
    const pending = this.#connection.prepare("SELECT 1 AS found FROM pending_vectors WHERE segment = ?").get(segment);
    if (vectors === 0 && pending === undefined) report("The segment has no vector, and nothing is about to embed it.");
    if (vectors > 0 && pending !== undefined)
      this.#verification.report(
        "pending",
        "pending_vectors",
        segment,
        "The segment is to be embedded and has its vectors.",
      );
    for (let place = 0; place < vectors; place += 1) {
      const id = vectorId(segment, place);
      const found = this.#vectors?.find(tenant, id);
      if (found === undefined) report(`The segment's vector ${id} is not there.`);
      else if (!isEqual(found, values))
        this.#verification.report(
          "columns",
          `records_${this.#vectors?.store.store}`,
          id,
          "The values beside the vector are not those of its event.",
        );
    }
  }
}

function segmentRows(connection: Connection, event: number): readonly SegmentRow[] {
  const select = connection.prepare(
    `SELECT segment, start, "end", checksum, vectors, token_string FROM segments WHERE event = ? ORDER BY segment`,
  );
  return select.all(event).map((row) => ({
    segment: Number(row.segment),
    start: Number(row.start),
    end: Number(row.end),
    checksum: Number(row.checksum),
    vectors: Number(row.vectors),
    tokenString: String(row.token_string),
  }));
}

/** The first part of a text, beyond white space, that no segment holds. */
export function uncoveredText(
  event: Pick<StoredEvent, "text" | "blocks">,
  segments: readonly SegmentRange[],
): SegmentRange | undefined {
  const ordered = [...segments].sort((a, b) => a.start - b.start);
  for (const range of textRanges(event)) {
    let covered = range.start;
    for (const { start, end } of [...ordered, { start: range.end, end: range.end }]) {
      if (end <= covered && start < range.end) continue;
      const until = Math.min(start, range.end);
      if (until > covered && event.text.slice(covered, until).trim() !== "") return { start: covered, end: until };
      covered = Math.max(covered, end);
      if (covered >= range.end) break;
    }
  }
  return undefined;
}

/** Where the memory's vectors lie. */
interface VectorTables {
  readonly store: StoreRow;
  readonly keys: readonly DeclaredKey[];
  /** The values beside a vector, those of complete keys alone; `undefined` when it is not there. */
  find(tenant: number, id: string): BoundProperties | undefined;
}

function vectorTables(connection: Connection): VectorTables | undefined {
  const space = currentSpace(connection);
  const store = storesOf(connection).find(({ store: number }) => number === space?.store)?.row;
  if (space === undefined || store === undefined) return undefined;
  const keys = declaredKeys(connection).filter(({ complete }) => complete);
  const names = [...Object.keys(VECTOR_PROPERTIES), ...keys.map(columnOf)];
  const schema = Object.fromEntries(
    names.flatMap((name) => (store.properties[name] ? [[name, store.properties[name]]] : [])),
  );
  const select = connection.prepare(
    `SELECT ${names.map(columnName).join(", ")} FROM records_${store.store} WHERE partition = ? AND id = ?`,
    { bigints: true },
  );
  const life = connection.prepare("SELECT partition FROM partitions WHERE store = ? AND key = ?");
  return {
    store,
    keys,
    find(tenant, id) {
      const partition = life.get(store.store, partitionKey({ tenant }))?.partition;
      const row = partition === undefined ? undefined : select.get(Number(partition), id);
      return row && valuesOf(row, schema);
    },
  };
}

/** What stands beside the vectors of an event, in the order of {@link VectorTables.find}. */
export function columnValues(event: StoredEvent, keys: readonly DeclaredKey[]): BoundProperties {
  const own = keys.map((key) => {
    const stored = event.properties.get(key.name);
    return stored && toColumnValue(key.kind, stored);
  });
  return [event.session, event.user, event.producer, event.role, event.kind, event.at, event.createdAt, ...own];
}

/** SQLite keeps no −0. */
function isEqual(a: BoundProperties, b: BoundProperties): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
