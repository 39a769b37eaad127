import {
  type ArchiveCounts,
  type ArchivedKey,
  type ArchivedPipeline,
  type ArchivedSpace,
  type ArchiveHead,
  NO_COUNTS,
} from "../archive/archived.ts";
import type { ArchivePlace } from "../archive/check-chain.ts";
import { invalidAt, type ReadRecord, readArchive } from "../archive/reading.ts";
import { assertBounds, beforeCommit, type CallBounds, withDeadline } from "../database/call.ts";
import { untilAborted } from "../embedding/abort.ts";
import { HoldfastError, isHoldfastError } from "../errors/index.ts";
import type { ArchiveSource, ImportArchiveOptions, ImportArchiveReceipt } from "./archive-contract.ts";
import { toTakenEvent } from "./archived-event.ts";
import type { MemoryCore } from "./core.ts";
import { type BegunImport, beginImport, discardImport, wasImported } from "./imports.ts";
import { publishImport, requireTakeable, schemaOf } from "./publish-import.ts";
import { type StagedRecord, stageRecords } from "./stage-archive.ts";
import type { TenantLife } from "./tenants.ts";

/** Records and bytes of one commit. */
const RECORDS_PER_COMMIT = 500;
const BYTES_PER_COMMIT = 4 * 1024 * 1024;
const SMALL_WRITE_BYTES = 4_096;

/** What an archive says before its tenants. */
interface Preamble {
  readonly head: ArchiveHead;
  /** The check of its first line tells one archive from another. */
  readonly digest: string;
  readonly space: ArchivedSpace | undefined;
  readonly pipelines: readonly ArchivedPipeline[];
  readonly keys: readonly ArchivedKey[];
}

/** Takes one archive in. */
export class ArchiveImport {
  readonly #core: MemoryCore;
  readonly #options: ImportArchiveOptions;
  readonly #bounds: CallBounds;
  #begun: BegunImport | undefined;
  #isPublished = false;
  #resumed = false;

  constructor(core: MemoryCore, options: ImportArchiveOptions) {
    this.#core = core;
    this.#options = options;
    const { signal, timeoutMs } = options;
    const bounds = { ...(signal !== undefined && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
    this.#bounds = withDeadline(bounds, "write");
  }

  /** @param own - the tenant whose life the caller holds; answered as it is now */
  async run(
    source: ArchiveSource,
    own: string,
  ): Promise<{ readonly receipt: ImportArchiveReceipt; readonly own: TenantLife | undefined }> {
    const { dryRun } = this.#options;
    let verified: ArchiveCounts | undefined;
    if (typeof source === "function" || dryRun === true)
      verified = await beforeCommit(this.#verify(this.#bytesOf(source)));
    if (dryRun === true) {
      const receipt = { ...(verified ?? NO_COUNTS), vectorsTaken: false, resumed: false };
      return { receipt, own: undefined };
    }
    try {
      return await beforeCommit(this.#takeIn(this.#bytesOf(source), own));
    } catch (error) {
      if (isRefusal(error)) await this.#discard();
      throw error;
    }
  }

  /** Reads all of it and writes nothing. */
  async #verify(source: AsyncIterable<Uint8Array>): Promise<ArchiveCounts> {
    let events = 0;
    let counts: ArchiveCounts = NO_COUNTS;
    for await (const read of readArchive(source)) {
      this.#assertWanted();
      this.#check(read);
      if (read.record.type === "event") events += 1;
      if (read.record.type === "end") counts = read.record.counts;
      this.#options.onProgress?.({ phase: "verifying", events, bytes: read.bytes });
    }
    return counts;
  }

  #check({ record, line, place }: ReadRecord): void {
    const { as } = this.#options;
    if (record.type === "head") {
      assertOneTenant(record.head, as);
      this.#isPublished = this.#core.database.lookup(wasImported, this.#nameOf(place.digest));
    }
    if (record.type === "tenant" && !this.#isPublished)
      this.#core.database.lookup(requireTakeable, as ?? record.tenant.id);
    if (record.type === "event") at(line, () => toTakenEvent(record.event));
  }

  async #takeIn(source: AsyncIterable<Uint8Array>, own: string) {
    let preamble: Preamble | undefined;
    let counts: ArchiveCounts | undefined;
    let events = 0;
    let batch = new Batch();
    for await (const read of readArchive(source)) {
      this.#assertWanted();
      const { record, place, line } = read;
      if (record.type === "head") assertOneTenant(record.head, this.#options.as);
      preamble = withRecord(preamble, read);
      if (record.type === "end") counts = record.counts;
      const staged = at(line, () => toStaged(read));
      if (staged === undefined) continue;
      this.#begun ??= await this.#begin(preamble);
      if (record.type === "event") events += 1;
      if (this.#wasTaken(this.#begun, place)) continue;
      batch.add(staged, read);
      if (batch.isFull) {
        await this.#stage(preamble, batch);
        batch = new Batch();
      }
      this.#options.onProgress?.({ phase: "importing", events, bytes: read.bytes });
    }
    if (preamble === undefined || counts === undefined)
      throw new HoldfastError("BUG", "An archive was read to its end and has none.");
    this.#begun ??= await this.#begin(preamble);
    await this.#stage(preamble, batch);
    return this.#publish(preamble, counts, own);
  }

  async #begin({ head, digest, space, keys }: Preamble): Promise<BegunImport> {
    const input = {
      archive: this.#nameOf(digest),
      lastEvent: head.lastEvent,
      lastSegment: head.lastSegment,
      space: space?.identity,
      keys: schemaOf(keys),
      embedder: this.#core.pipeline.identity,
    };
    const begun = await this.#core.database.write(beginImport, input, this.#call(SMALL_WRITE_BYTES));
    this.#resumed = begun.place.lines > 0;
    return begun;
  }

  /** What an interrupted import is found by. */
  #nameOf(digest: string): string {
    return `${digest} ${this.#options.as ?? ""}`;
  }

  /** Whether an earlier import took this in; the place where that one stopped must be one of this very archive. */
  #wasTaken({ place: staged, isPublished }: BegunImport, place: ArchivePlace): boolean {
    if (place.lines === staged.lines && place.digest !== staged.digest)
      throw invalidAt(place.lines, new HoldfastError("INVALID_ARGUMENT", "it differs from what was taken in before"));
    return isPublished || place.lines <= staged.lines;
  }

  async #stage({ space }: Preamble, batch: Batch): Promise<void> {
    const begun = this.#begun;
    if (begun === undefined || batch.place === undefined) return;
    const input = {
      import: begun.import,
      from: begun.place.lines,
      records: batch.records,
      place: batch.place,
      space: begun.takesVectors ? space : undefined,
      keepsPending: begun.takesVectors || space === undefined,
      as: this.#options.as,
    };
    await this.#core.database.write(stageRecords, input, this.#call(batch.bytes));
    this.#begun = { ...begun, place: batch.place };
  }

  async #publish({ pipelines, keys }: Preamble, counts: ArchiveCounts, own: string) {
    const begun = this.#begun;
    if (begun === undefined) throw new HoldfastError("BUG", "An import ends that did not begin.");
    const { events, segments } = counts;
    const input = { import: begun.import, lines: begun.place.lines, events, segments, pipelines, keys, own };
    const published = await this.#core.database.write(publishImport, input, this.#call(SMALL_WRITE_BYTES));
    if (!published.isWhole) throw notWhole();
    for (const part of [this.#core.reclaimer, this.#core.retrier, this.#core.filler]) part.wake();
    const receipt = {
      ...counts,
      ...vectorCounts(counts, begun),
      vectorsTaken: begun.takesVectors,
      resumed: this.#resumed,
    };
    return { receipt, own: published.own };
  }

  /** A refused archive leaves nothing; what it is called again for is kept. */
  async #discard(): Promise<void> {
    if (this.#begun === undefined) return;
    await this.#core.database.write(discardImport, this.#begun.import, { sizeBytes: SMALL_WRITE_BYTES });
    this.#core.reclaimer.wake();
  }

  /** The caller's bounds end also the wait for a source that says nothing. */
  async *#bytesOf(source: ArchiveSource): AsyncGenerator<Uint8Array> {
    const chunks = (typeof source === "function" ? source() : source)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await untilAborted(chunks.next(), this.#bounds.signal);
        if (next.done === true) return;
        yield typeof next.value === "string" ? Buffer.from(next.value) : next.value;
      }
    } finally {
      await chunks.return?.();
    }
  }

  #call(sizeBytes: number) {
    return { ...this.#bounds, sizeBytes };
  }

  #assertWanted(): void {
    this.#core.assertOpen();
    assertBounds(this.#bounds, "write");
  }
}

/** The records of one commit. */
class Batch {
  readonly records: StagedRecord[] = [];
  place: ArchivePlace | undefined;
  bytes = 0;
  #from: number | undefined;

  get isFull(): boolean {
    return this.records.length >= RECORDS_PER_COMMIT || this.bytes >= BYTES_PER_COMMIT;
  }

  add(record: StagedRecord, { place, bytes }: ReadRecord): void {
    this.#from ??= bytes;
    this.bytes = bytes - this.#from + SMALL_WRITE_BYTES;
    this.records.push(record);
    this.place = place;
  }
}

function toStaged({ record, line }: ReadRecord): StagedRecord | undefined {
  switch (record.type) {
    case "tenant":
      return { line, tenant: record.tenant };
    case "session":
      return { line, session: record.session };
    case "event":
      return { line, event: toTakenEvent(record.event) };
    case "summary":
      return { line, summary: record.summary };
    default:
      return undefined;
  }
}

function withRecord(preamble: Preamble | undefined, { record, place }: ReadRecord): Preamble {
  if (record.type === "head")
    return { head: record.head, digest: place.digest, space: undefined, pipelines: [], keys: [] };
  if (preamble === undefined) throw new HoldfastError("BUG", "An archive was read without its head.");
  if (record.type === "space") return { ...preamble, space: record.space };
  if (record.type === "pipeline") return { ...preamble, pipelines: [...preamble.pipelines, record.pipeline] };
  return record.type === "key" ? { ...preamble, keys: [...preamble.keys, record.key] } : preamble;
}

function vectorCounts({ segments, vectors, pending }: ArchiveCounts, { takesVectors }: BegunImport) {
  return takesVectors ? { vectors, pending } : { vectors: 0, pending: segments };
}

function assertOneTenant(head: ArchiveHead, as: string | undefined): void {
  if (as === undefined || head.tenants === 1) return;
  const message = `The archive has ${head.tenants} tenants; only one of a single tenant can be taken in under another id.`;
  throw new HoldfastError("INVALID_ARGUMENT", message, { details: { tenants: head.tenants } });
}

function at<T>(line: number, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (isHoldfastError(error) && error.group === "input") throw invalidAt(line, error);
    throw error;
  }
}

function notWhole(): HoldfastError {
  const message =
    "What was taken in before an interruption is not whole any more, and was let go; run the import again.";
  return new HoldfastError("DAMAGED", message, { outcome: "not-applied" });
}

/** What the archive is refused for, as opposed to what an interrupted import is gone on from. */
function isRefusal(error: unknown): boolean {
  if (!isHoldfastError(error)) return false;
  return (
    error.group === "input" ||
    error.code === "FORMAT_TOO_NEW" ||
    (error.group === "conflict" && error.retry === "never")
  );
}
