import type { ArchivedPending, ArchivedSegment, ArchivedSpace } from "../archive/archived.ts";
import { PartitionWriter } from "../backends/embedded/records.ts";
import type { WriteUnit } from "../database/operation.ts";
import { HoldfastError } from "../errors/index.ts";
import { segmentChecksum } from "../segments/sqlite/checksums.ts";
import { type EventOwner, vouchedBy } from "../segments/sqlite/events.ts";
import { insertPending } from "../segments/sqlite/pending-vectors.ts";
import { insertSegment, noteTokens } from "../segments/sqlite/segments.ts";
import { indexSegment } from "../segments/sqlite/text-index.ts";
import { tokeniseWords } from "../segments/words.ts";
import type { TakenEvent } from "./archived-event.ts";
import { vectorId } from "./derivatives.ts";
import { searchableText } from "./segment-records.ts";
import { countSegments, type TenantLife } from "./tenants.ts";
import { ensureSpace, ensureTenantPartition, vectorValues } from "./vector-records.ts";

/** How the segments of an archive are written. */
export interface StagingRules {
  readonly segmentBase: number;
  /** Of the archive's vectors when they are the folder's too; otherwise segments wait for the folder's own embedder. */
  readonly space: ArchivedSpace | undefined;
  /** Whether pending segments stay as they are: no other model has tried them. */
  readonly keepsPending: boolean;
}

/** Segments of an archive's events inside one unit, with their words and vectors: as they were cut, and not cut anew. */
export class StagedRecords {
  readonly #unit: WriteUnit;
  readonly #tenant: TenantLife;
  readonly #rules: StagingRules;
  #vectors: PartitionWriter | undefined;
  #documents = 0;
  #tokens = 0;

  constructor(unit: WriteUnit, tenant: TenantLife, rules: StagingRules) {
    this.#unit = unit;
    this.#tenant = tenant;
    this.#rules = rules;
  }

  write(owner: EventOwner, taken: TakenEvent): void {
    const { event, revision, createdAt } = taken;
    const vouched = vouchedBy(owner, event, revision);
    const values = vectorValues(this.#unit, owner, event, createdAt);
    const { connection } = this.#unit;
    const { tenant } = this.#tenant;
    for (const archived of taken.segments) {
      const { start, end } = archived;
      const vectors = this.#rules.space === undefined ? [] : archived.vectors;
      const segment = insertSegment(
        connection,
        { tenant, event: taken.number },
        {
          segment: archived.number + this.#rules.segmentBase,
          ...{ start, end },
          checksum: segmentChecksum(tenant, vouched, { start, end }),
          vectors: vectors.length,
        },
      );
      const tokens = tokeniseWords(searchableText(event, { start, end }));
      const indexed = indexSegment(connection, { segment, tenant, tokens });
      noteTokens(connection, segment, indexed.tokenString);
      this.#documents += 1;
      this.#tokens += indexed.tokenCount;
      for (const [place, vector] of vectors.entries())
        this.#partition().put({ id: vectorId(segment, place), vector, values });
      if (vectors.length === 0) insertPending(connection, { segment, tenant, ...this.#pendingOf(archived) });
    }
  }

  finish(): void {
    this.#vectors?.finish(true);
    countSegments(this.#unit.connection, this.#tenant.tenant, this.#documents, this.#tokens);
  }

  /** The state that the archive tells is kept; what another model made is asked of this one from the beginning. */
  #pendingOf({ pending }: ArchivedSegment): Omit<ArchivedPending, "nextAt"> & { readonly nextAt: number } {
    if (pending !== undefined && this.#rules.keepsPending) return { ...pending, nextAt: Number(pending.nextAt) };
    return { state: "waiting", attempts: 0, nextAt: this.#unit.nowMicros, reason: "embedded by another model" };
  }

  #partition(): PartitionWriter {
    const { space } = this.#rules;
    if (space === undefined) throw new HoldfastError("BUG", "Vectors of an archive were written without their space.");
    this.#vectors ??= new PartitionWriter(
      this.#unit,
      ensureTenantPartition(this.#unit, ensureSpace(this.#unit, space, space.createdAt), this.#tenant),
    );
    return this.#vectors;
  }
}
