import type { BackupOptions, BackupReceipt } from "../contract/backup.ts";
import type { CallOptions } from "../contract/store.ts";

/** Where the bytes of a folder are. The kinds and `free` add up to `file`. */
export interface FolderBytes {
  /** The database file. */
  readonly file: number;
  /** The log beside it: what was committed since the last checkpoint, and room that is used again. */
  readonly log: number;
  readonly vectors: number;
  /** Ids, times and declared keys beside the vectors. */
  readonly records: number;
  /** Events with their properties, earlier revisions, summaries. */
  readonly texts: number;
  /** The index of words, and where segments stand in their events. */
  readonly words: number;
  readonly receipts: number;
  /** The feed of changes. */
  readonly changes: number;
  readonly other: number;
  /** Pages that hold nothing and are used again. */
  readonly free: number;
  /** What a restore or an upgrade has kept in the folder; it can be removed. */
  readonly kept: number;
}

/** What a folder holds, all tenants with it, at one moment. */
export interface FolderStats {
  readonly path: string;
  readonly format: number;
  /** Random; new when the folder is created or restored. */
  readonly epoch: string;
  readonly createdAt: string;
  readonly bytes: FolderBytes;
  readonly rows: {
    readonly tenants: number;
    readonly sessions: number;
    readonly events: number;
    /** Earlier revisions of events. */
    readonly revisions: number;
    readonly segments: number;
    readonly vectors: number;
    readonly changes: number;
    /** What tells followers which vectors are gone. */
    readonly removals: number;
  };
  /** Segments that wait for their vectors, and those that are parked. */
  readonly pending: { readonly waiting: number; readonly parked: number };
  /** What was deleted and is yet to be reclaimed: vectors of ended partitions, and whose they were. */
  readonly dead: {
    readonly records: number;
    readonly partitions: number;
    readonly tenants: number;
    readonly sessions: number;
  };
  /** Commits that touched vectors, of the partitions that are there; and changes that were ever noted. */
  readonly positions: { readonly commits: number; readonly changes: number };
}

/** What a memory does with its folder as a whole, all tenants with it. */
export interface FolderCalls {
  /**
   * Backs up the folder into a new one while reads and writes go on: a copy of one moment, opened and checked, with a
   * manifest of counts and a checksum. The folder appears under its name when all of it is on the disk.
   * It holds every tenant's data, so that what is forgotten later stays in it (E14).
   *
   * @param target - a folder that does not exist, outside the memory's own; its parents are made
   * @throws ALREADY_EXISTS, INVALID_ARGUMENT, DISK_FULL, READ_ONLY (the target's folder), DAMAGED, ABORTED, TIMEOUT
   */
  backup(target: string, options?: BackupOptions): Promise<BackupReceipt>;
  /**
   * Counts and sizes of the whole folder. Reads every page of it, in a thread of its own; `stats` of a tenant is cheap.
   *
   * @throws ABORTED, TIMEOUT
   */
  folderStats(options?: CallOptions): Promise<FolderStats>;
}
