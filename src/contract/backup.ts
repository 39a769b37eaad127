import type { CallOptions } from "./store.ts";

/** How far a backup or a restore has come. `done` and `total` are bytes of the phase. */
export interface BackupProgress {
  readonly phase: "copying" | "checking";
  readonly done: number;
  readonly total: number;
}

export interface BackupOptions extends CallOptions {
  readonly onProgress?: (progress: BackupProgress) => void;
}

/** What a backup says of its database. */
export interface BackupManifest {
  /** The format version of the database. */
  readonly format: number;
  /** Of the folder that was backed up. */
  readonly epoch: string;
  /** When it was made, `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  readonly createdAt: string;
  readonly sizeBytes: number;
  /** SHA-256 of the database file, in hexadecimal digits. */
  readonly sha256: string;
  /** Rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
}

export interface BackupReceipt extends BackupManifest {
  /** The folder of the backup. */
  readonly path: string;
}

export interface RestoreOptions extends BackupOptions {
  /** Takes the place of the memory that the folder holds; what it held is kept beside it. Default `false`: it is refused. */
  readonly replace?: boolean;
  /** `workers` (default) keeps the calling thread free; `inline` does the work there. */
  readonly threads?: "workers" | "inline";
}

export interface RestoreReceipt {
  /** The folder. */
  readonly path: string;
  /** When the backup was made. */
  readonly createdAt: string;
  /** Rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
  /** The database that the folder held before, set aside; remove it when it is not needed. */
  readonly kept?: string;
}
