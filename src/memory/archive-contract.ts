import type { ArchiveCounts } from "../archive/archived.ts";
import type { CallOptions } from "../contract/store.ts";

export interface ArchiveExportProgress extends ArchiveCounts {
  /** Bytes of the archive so far. */
  readonly bytes: number;
}

export interface ExportArchiveOptions extends CallOptions {
  /** The one tenant that is meant; every tenant of the folder when absent. */
  readonly tenant?: string;
  /**
   * Leaves out what is damaged and counts it, in the progress and in the archive's last line; by default the export
   * ends with DAMAGED, so that no archive lacks something in silence.
   */
  readonly skipDamaged?: boolean;
  /** Called before each piece is answered; the last call has the counts of the whole archive. */
  readonly onProgress?: (progress: ArchiveExportProgress) => void;
}

/** The bytes of an archive: a stream that can be read once, or a function that begins it anew. */
export type ArchiveSource = AsyncIterable<Uint8Array | string> | (() => AsyncIterable<Uint8Array | string>);

export interface ArchiveImportProgress {
  /** `verifying`: nothing is written yet. `importing`: it is, and nobody sees it yet. */
  readonly phase: "verifying" | "importing";
  readonly events: number;
  /** Bytes of the archive that were read in this phase. */
  readonly bytes: number;
}

export interface ImportArchiveOptions extends CallOptions {
  /** Takes the archive's one tenant in under this id. */
  readonly as?: string;
  /** Reads and checks the whole archive, and writes nothing. */
  readonly dryRun?: boolean;
  readonly onProgress?: (progress: ArchiveImportProgress) => void;
}

/** What an archive brought. */
export interface ImportArchiveReceipt extends ArchiveCounts {
  /**
   * Whether its vectors were taken over: they are of the same embedding space as the folder's, or as the embedder's
   * where the folder has none. Otherwise every segment is pending and embedded by this memory's embedder.
   */
  readonly vectorsTaken: boolean;
  /** Whether an earlier import of the same archive, which was interrupted, was gone on with. */
  readonly resumed: boolean;
}

/** Carrying everything of a folder or of one tenant elsewhere (O2). */
export interface ArchiveCalls {
  /**
   * Everything as JSON lines: tenants, sessions, events with their revisions, segments, vectors, properties, summaries
   * and what is pending. It is of one moment, whatever is written meanwhile, and is made as fast as it is read. Read
   * it to its end or end the iteration: until then the moment is held, and the log grows with what is written.
   *
   * @throws NOT_FOUND, DAMAGED, ABORTED, TIMEOUT, CLOSED, while it is read
   */
  exportArchive(options?: ExportArchiveOptions): AsyncIterable<string>;
  /**
   * Takes an archive in: its tenants, with all that they hold, are visible at once when it returns, and not before. A
   * tenant that holds something already is refused; an empty one gives way, and its other handles are STALE.
   *
   * Give a function that opens the archive, such as `() => createReadStream(file)`: then all of it is verified before
   * anything is written. Interrupted in any way, call it again with the same archive: it goes on where it was.
   *
   * @throws INVALID_ARCHIVE with the line in its details, FORMAT_TOO_NEW, ALREADY_EXISTS, PARTITION_SCHEMA_MISMATCH (a
   *   declared key has another type in this empty folder), BUSY (another process takes in the same archive), DAMAGED (what
   *   was taken in before an interruption has lost something: call it again), DISK_FULL
   */
  importArchive(source: ArchiveSource, options?: ImportArchiveOptions): Promise<ImportArchiveReceipt>;
}
