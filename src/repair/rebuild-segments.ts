import { checksumOf, valuesOf } from "../backends/embedded/codec.ts";
import { PartitionWriter } from "../backends/embedded/records.ts";
import type { BoundProperties } from "../contract/properties.ts";
import type { SqlRow } from "../database/connection.ts";
import { currentSpace, type Space } from "../embedding/spaces.ts";
import { vectorId } from "../memory/derivatives.ts";
import { searchableText } from "../memory/segment-records.ts";
import { countSegments, partitionKey, type TenantLife } from "../memory/tenants.ts";
import { ensureTenantPartition, vectorValues } from "../memory/vector-records.ts";
import type { StoreRow } from "../registry/stores.ts";
import { segmentChecksum } from "../segments/sqlite/checksums.ts";
import type { EventOwner, StoredEvent } from "../segments/sqlite/events.ts";
import { insertPending } from "../segments/sqlite/pending-vectors.ts";
import { noteTokens, type SegmentRange } from "../segments/sqlite/segments.ts";
import { indexSegment } from "../segments/sqlite/text-index.ts";
import { tokeniseWords } from "../segments/words.ts";
import { unusable } from "../verify/record-checks.ts";
import { uncoveredText } from "../verify/segment-checks.ts";
import type { Steps } from "../verify/verification.ts";
import { type Rebuild, remake } from "./rebuild.ts";

/** A segment that is written, with the vectors that are still whole. */
interface NewSegment extends SegmentRange {
  /** Its number, where it had one. */
  readonly segment: bigint | undefined;
  readonly vectors: readonly Uint8Array[];
}

/**
 * What is made of an event: segments that are whole keep their numbers, parts of the text that no segment holds any more
 * get new ones, words are indexed anew, vectors that are whole are taken over, and the others are embedded at the next open.
 */
export class SegmentRebuilder {
  readonly #all: Rebuild;
  readonly #space: Space | undefined;
  /** The store of the vectors as the damaged database declares it. */
  readonly #store: StoreRow | undefined;
  readonly #writers = new Map<number, PartitionWriter>();
  readonly #counts = new Map<number, { documents: number; tokens: number }>();
  #pending = 0;
  #recut = 0;

  constructor(all: Rebuild) {
    this.#all = all;
    this.#space = currentSpace(all.target.connection);
    this.#store = all.stores.find(({ store }) => store === this.#space?.store);
  }

  /** @param place - the numbers of the event's tenant and session */
  *restore(event: StoredEvent, { tenant, session }: { readonly tenant: number; readonly session: number }): Steps {
    const owner = { tenant, session, sessionId: event.session, user: event.user };
    const whole: SegmentRange[] = [];
    const there = this.#all.target.connection.prepare("SELECT 1 AS found FROM segments WHERE segment = ?");
    for (const row of this.#all.staging.find("segments", "event", BigInt(event.event))) {
      yield;
      // A page that is there twice, of which one is old.
      if (there.get(row.segment ?? null) !== undefined) continue;
      const range = { start: Number(row.start), end: Number(row.end) };
      const isInside = range.start >= 0 && range.start < range.end && range.end <= event.text.length;
      if (
        !isInside ||
        segmentChecksum(tenant, event, range) !== Number(row.checksum) ||
        Number(row.tenant) !== tenant
      ) {
        remake(this.#all, "segments", row, "its checksum does not hold; its part of the text is cut anew");
        continue;
      }
      const values = this.#values(owner, event);
      const vectors = this.#takeOver(tenant, row, values);
      this.#write(owner, event, { ...range, segment: BigInt(row.segment as bigint), vectors }, values);
      whole.push(range);
    }
    for (let gap = uncoveredText(event, whole); gap !== undefined; gap = uncoveredText(event, whole)) {
      yield;
      const range = trimmed(event.text, gap);
      this.#recut += 1;
      this.#write(owner, event, { ...range, segment: undefined, vectors: [] }, []);
      whole.push(gap);
    }
  }

  /** Writes the sums of what was written since the last commit. */
  flush(): void {
    for (const writer of this.#writers.values()) writer.finish(true);
    this.#writers.clear();
    for (const [tenant, { documents, tokens }] of this.#counts)
      countSegments(this.#all.target.connection, tenant, documents, tokens);
    this.#counts.clear();
  }

  finish(): void {
    this.flush();
    const { notes } = this.#all.ledger;
    if (this.#pending > 0)
      notes.push(
        `${this.#pending} segments have no vectors now and are embedded at the next open; until then they are found by their words.`,
      );
    if (this.#recut > 0) notes.push(`${this.#recut} parts of texts were in no whole segment and were cut anew.`);
  }

  #values(owner: EventOwner, event: StoredEvent): BoundProperties {
    return this.#space === undefined ? [] : vectorValues(this.#all.target.unit, owner, event, event.createdAt);
  }

  #write(owner: EventOwner, event: StoredEvent, part: NewSegment, values: BoundProperties): void {
    const { target, ledger } = this.#all;
    const { connection } = target;
    const { tenant } = owner;
    const { start, end, vectors } = part;
    const checksum = segmentChecksum(tenant, event, part);
    const row = {
      tenant: BigInt(tenant),
      event: BigInt(event.event),
      start: BigInt(start),
      end: BigInt(end),
      checksum: BigInt(checksum),
    };
    const known = part.segment === undefined ? {} : { segment: part.segment };
    // The words follow, and a segment is committed with its words.
    const number = target.put("segments", { ...known, ...row, vectors: BigInt(vectors.length), token_string: "" });
    const tokens = tokeniseWords(searchableText(event, part));
    const indexed = indexSegment(connection, { segment: number, tenant, tokens });
    noteTokens(connection, number, indexed.tokenString);
    const counts = this.#counts.get(tenant) ?? { documents: 0, tokens: 0 };
    this.#counts.set(tenant, { documents: counts.documents + 1, tokens: counts.tokens + indexed.tokenCount });
    ledger.kept("segments");
    if (vectors.length === 0) this.#notePending(number, tenant);
    for (const [place, vector] of vectors.entries()) {
      this.#writer(tenant).put({ id: vectorId(number, place), vector, values });
      ledger.kept(`records_${this.#space?.store}`);
      ledger.kept(`vectors_${this.#space?.store}`);
    }
    target.next();
  }

  #notePending(segment: number, tenant: number): void {
    const { staging, target } = this.#all;
    const [known] = staging.find("pending_vectors", "rowid_", BigInt(segment));
    const reason = known === undefined ? "repaired" : String(known.reason);
    insertPending(target.connection, { segment, tenant, nextAt: target.unit.nowMicros, reason });
    if (known === undefined) this.#pending += 1;
    else this.#all.ledger.kept("pending_vectors");
    if (known?.state === "parked")
      target.connection
        .prepare("UPDATE pending_vectors SET state = 'parked', attempts = ? WHERE segment = ?")
        .run(Number(known.attempts), segment);
  }

  #writer(tenant: number): PartitionWriter {
    const known = this.#writers.get(tenant);
    if (known !== undefined) return known;
    const { target, tenants } = this.#all;
    if (this.#space === undefined) throw new Error("vectors are taken over into a space that is there");
    const life: TenantLife = { tenant, id: "", incarnation: tenants.get(tenant) ?? "" };
    const writer = new PartitionWriter(target.unit, ensureTenantPartition(target.unit, this.#space, life));
    this.#writers.set(tenant, writer);
    return writer;
  }

  /** The vectors of a segment, all of them or none: a part of them would be found for the whole. */
  #takeOver(tenant: number, { segment, vectors }: SqlRow, values: BoundProperties): readonly Uint8Array[] {
    const taken: Uint8Array[] = [];
    for (let place = 0; place < Number(vectors); place += 1) {
      const vector = this.#wholeVector(tenant, vectorId(Number(segment), place), values);
      if (vector === undefined) return [];
      taken.push(vector);
    }
    return taken;
  }

  #wholeVector(tenant: number, id: string, values: BoundProperties): Uint8Array | undefined {
    const store = this.#store;
    if (store === undefined) return undefined;
    const { staging } = this.#all;
    for (const row of staging.find(`records_${store.store}`, "id", id)) {
      if (!this.#isOf(tenant, row)) continue;
      const found = staging.find(`vectors_${store.store}`, "rowid_", row.rowid_ ?? null);
      for (const { vector } of found)
        if (vector instanceof Uint8Array && this.#isWhole(row, vector, store, values)) return vector;
      remake(
        this.#all,
        `records_${store.store}`,
        row,
        "its checksum does not hold, or its vector is missing; it is made anew",
      );
    }
    return undefined;
  }

  /** By what stands in the row or, where a value beside the vector was damaged, by what its event says. */
  #isWhole(row: SqlRow, vector: Uint8Array, store: StoreRow, values: BoundProperties): boolean {
    if (
      vector.byteLength !== store.dimensions * 4 ||
      unusable(vector, new Float32Array(store.dimensions)) !== undefined
    )
      return false;
    const holds = (all: BoundProperties): boolean =>
      checksumOf(Number(row.partition), String(row.id), { schema: store.properties, values: all, vector }) ===
      Number(row.checksum);
    return holds(valuesOf(row, store.properties)) || holds(values);
  }

  #isOf(tenant: number, { partition }: SqlRow): boolean {
    const [row] = this.#all.staging.find("partitions", "rowid_", partition ?? null);
    return row === undefined || row.key === partitionKey({ tenant });
  }
}

function trimmed(text: string, { start, end }: SegmentRange): SegmentRange {
  const part = text.slice(start, end);
  return { start: start + part.length - part.trimStart().length, end: end - (part.length - part.trimEnd().length) };
}
