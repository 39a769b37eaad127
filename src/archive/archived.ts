import type { PropertyKind } from "../contract/properties.ts";
import type { UserValue } from "../contract/property-values.ts";

/** Raised when a line changes its meaning; an archive of a newer version is refused. */
export const ARCHIVE_VERSION = 1;

/** Numbers of events and segments stay below, so that no archive uses up the numbers of the folder that takes it in. */
export const ARCHIVE_NUMBER_MAX: number = 2 ** 40;

/** The first line. Times are microseconds since 1970. */
export interface ArchiveHead {
  /** Of this export: no two have the same. */
  readonly id: string;
  readonly createdAt: bigint;
  readonly tenants: number;
  /** The largest number of an event and of a segment. */
  readonly lastEvent: number;
  readonly lastSegment: number;
}

/** The embedding space that the archive's vectors are of. */
export interface ArchivedSpace {
  readonly identity: string;
  readonly dimensions: number;
  readonly createdAt: bigint;
}

/** How texts were cut, and what was embedded of them. */
export interface ArchivedPipeline {
  readonly segmenter: string;
  readonly derive: string;
  readonly firstAt: bigint;
}

/** A key of events that the folder declares. */
export interface ArchivedKey {
  readonly name: string;
  readonly kind: PropertyKind;
}

export interface ArchivedTenant {
  readonly id: string;
  readonly createdAt: bigint;
}

export interface ArchivedSession {
  readonly id: string;
  readonly user: string | undefined;
  readonly createdAt: bigint;
}

/** A part of an event. */
export interface ArchivedBlock {
  readonly type: string;
  readonly text?: string;
  /** Any JSON value. */
  readonly data?: unknown;
}

/** What an event or a revision of it says: a text, or blocks. */
export interface ArchivedContent {
  readonly text: string | undefined;
  readonly blocks: readonly ArchivedBlock[] | undefined;
  readonly properties: ReadonlyMap<string, UserValue>;
}

export interface ArchivedRevision extends ArchivedContent {
  readonly revision: number;
  readonly replacedAt: bigint;
}

/** Why a segment has no vectors, and when they are tried again. */
export interface ArchivedPending {
  readonly state: "waiting" | "parked";
  readonly attempts: number;
  readonly nextAt: bigint;
  readonly reason: string;
}

/** A segment has its vectors, or is pending. */
export interface ArchivedSegment {
  readonly number: number;
  readonly start: number;
  readonly end: number;
  /** Float32, little-endian. */
  readonly vectors: readonly Uint8Array[];
  readonly pending: ArchivedPending | undefined;
}

export interface ArchivedEvent extends ArchivedContent {
  readonly number: number;
  readonly session: string;
  readonly id: string;
  readonly at: bigint;
  readonly atOffset: string;
  readonly producer: string | undefined;
  readonly role: string | undefined;
  readonly kind: string | undefined;
  readonly revision: number;
  readonly createdAt: bigint;
  readonly updatedAt: bigint | undefined;
  /** Earlier ones, oldest first. */
  readonly revisions: readonly ArchivedRevision[];
  /** In the order of their numbers. */
  readonly segments: readonly ArchivedSegment[];
}

export interface ArchivedSummary {
  readonly session: string;
  readonly text: string;
  /** The first and the last event that it covers. */
  readonly from: string;
  readonly to: string;
  readonly events: number;
  readonly version: string;
  readonly updatedAt: bigint;
}

/** What an archive holds. */
export interface ArchiveCounts {
  readonly tenants: number;
  readonly sessions: number;
  readonly events: number;
  /** Earlier revisions of events. */
  readonly revisions: number;
  readonly segments: number;
  readonly vectors: number;
  /** Segments without vectors. */
  readonly pending: number;
  readonly summaries: number;
  /** What the export left out because it was damaged. */
  readonly damaged: number;
}

export const NO_COUNTS: ArchiveCounts = {
  tenants: 0,
  sessions: 0,
  events: 0,
  revisions: 0,
  segments: 0,
  vectors: 0,
  pending: 0,
  summaries: 0,
  damaged: 0,
};

export type ArchiveRecord =
  | { readonly type: "head"; readonly head: ArchiveHead }
  | { readonly type: "space"; readonly space: ArchivedSpace }
  | { readonly type: "pipeline"; readonly pipeline: ArchivedPipeline }
  | { readonly type: "key"; readonly key: ArchivedKey }
  | { readonly type: "tenant"; readonly tenant: ArchivedTenant }
  | { readonly type: "session"; readonly session: ArchivedSession }
  | { readonly type: "event"; readonly event: ArchivedEvent }
  | { readonly type: "summary"; readonly summary: ArchivedSummary }
  | { readonly type: "end"; readonly counts: ArchiveCounts };

/** The counts with one record more. */
export function counted(counts: ArchiveCounts, record: ArchiveRecord): ArchiveCounts {
  switch (record.type) {
    case "tenant":
      return { ...counts, tenants: counts.tenants + 1 };
    case "session":
      return { ...counts, sessions: counts.sessions + 1 };
    case "summary":
      return { ...counts, summaries: counts.summaries + 1 };
    case "event": {
      const { revisions, segments } = record.event;
      return {
        ...counts,
        events: counts.events + 1,
        revisions: counts.revisions + revisions.length,
        segments: counts.segments + segments.length,
        vectors: segments.reduce((sum, { vectors }) => sum + vectors.length, counts.vectors),
        pending: counts.pending + segments.filter(({ pending }) => pending !== undefined).length,
      };
    }
    default:
      return counts;
  }
}
