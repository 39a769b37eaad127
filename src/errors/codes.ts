/** What kind of trouble a code names. */
export type ErrorGroup = "input" | "state" | "conflict" | "capability" | "remote" | "integrity" | "abort" | "bug";

/** Whether the same call may be repeated: `never` (it will fail again), `safe` (at once), `later` (after a pause). */
export type ErrorRetry = "never" | "safe" | "later";

/** What became of a write: `none` for calls that write nothing. */
export type ErrorOutcome = "none" | "not-applied" | "applied" | "unknown";

/**
 * Every code that Holdfast raises. A code is stable between major versions;
 * `docs/errors.md` is generated from this table.
 */
export const ERROR_CODES = {
  INVALID_ARGUMENT: {
    group: "input",
    retry: "never",
    meaning: "An argument is outside its range or of another kind than documented.",
  },
  INVALID_NAME: { group: "input", retry: "never", meaning: "A name, key or id does not have the documented form." },
  INVALID_TEXT: {
    group: "input",
    retry: "never",
    meaning: "A text is empty where text is needed, or holds a lone surrogate.",
  },
  INVALID_VECTOR: {
    group: "input",
    retry: "never",
    meaning: "A vector is missing, not finite, zero, or its norm is too small.",
  },
  DIMENSION_MISMATCH: {
    group: "input",
    retry: "never",
    meaning: "A vector has another number of dimensions than its store.",
  },
  DUPLICATE_RECORD_ID: { group: "input", retry: "never", meaning: "One batch names a record id twice." },
  UNDECLARED_PROPERTY: { group: "input", retry: "never", meaning: "A property key is not declared by the store." },
  PROPERTY_TYPE_MISMATCH: {
    group: "input",
    retry: "never",
    meaning: "A value does not fit the declared type of its property.",
  },
  INVALID_FILTER: { group: "input", retry: "never", meaning: "A filter is malformed, too deep or too large." },
  FILTER_SYNTAX: {
    group: "input",
    retry: "never",
    meaning: "A filter text does not follow the grammar; the position is in the details.",
  },
  LIMIT_EXCEEDED: { group: "input", retry: "never", meaning: "An input is larger than a documented limit." },
  INVALID_ARCHIVE: {
    group: "input",
    retry: "never",
    meaning:
      "An archive is altered, cut off or says what cannot be; the line is in the details. Nothing of it is visible.",
  },
  UNSUPPORTED_FILTER: {
    group: "capability",
    retry: "never",
    meaning: "The backend cannot evaluate this kind of filter.",
  },
  UNSUPPORTED_FILESYSTEM: {
    group: "capability",
    retry: "never",
    meaning: "The file system cannot be shared between processes safely; open with `exclusive: true`.",
  },
  PACKAGE_MISSING: {
    group: "capability",
    retry: "never",
    meaning: "An optional package is needed; the message names the install command.",
  },
  NOT_FOUND: { group: "state", retry: "never", meaning: "The tenant, session or event asked for does not exist." },
  CLOSED: { group: "state", retry: "never", meaning: "The handle was closed." },
  FAILED: {
    group: "state",
    retry: "never",
    meaning:
      "The handle takes no more calls: a commit or a sync failed, a thread ended, or its files were removed. Close it and open the folder again.",
  },
  IO_FAILED: {
    group: "state",
    retry: "later",
    meaning: "The disk or the file system failed to read or write; nothing acknowledged is lost.",
  },
  OUT_OF_RESOURCES: {
    group: "state",
    retry: "later",
    meaning: "The process or the system has no file descriptors, memory or threads left.",
  },
  READ_ONLY: { group: "state", retry: "never", meaning: "The database is open for reading only, or its medium is." },
  STALE: { group: "state", retry: "never", meaning: "The tenant or session of this handle was deleted." },
  PARTITION_STALE: { group: "state", retry: "never", meaning: "The partition of this handle was deleted." },
  PARTITION_PENDING: { group: "state", retry: "later", meaning: "The partition is still being created." },
  PARTITION_DELETED: {
    group: "state",
    retry: "never",
    meaning: "The partition was deleted while it was being created.",
  },
  STORAGE_MISSING: { group: "integrity", retry: "never", meaning: "The storage of a known tenant or store is gone." },
  ALREADY_EXISTS: { group: "conflict", retry: "never", meaning: "It exists with other settings." },
  PARTITION_ALREADY_EXISTS: { group: "conflict", retry: "never", meaning: "A partition with this key exists." },
  STORE_MISMATCH: { group: "conflict", retry: "never", meaning: "The store exists with other dimensions or settings." },
  PARTITION_SCHEMA_MISMATCH: {
    group: "conflict",
    retry: "never",
    meaning: "The store declares a property with another type.",
  },
  EVENT_CONFLICT: { group: "conflict", retry: "never", meaning: "An event with this id exists and differs." },
  REVISION_CONFLICT: {
    group: "conflict",
    retry: "never",
    meaning: "The thing was changed since the revision that the call names.",
  },
  IDEMPOTENCY_CONFLICT: {
    group: "conflict",
    retry: "never",
    meaning: "The idempotency key was used with another payload.",
  },
  REEMBED_IN_PROGRESS: { group: "conflict", retry: "later", meaning: "Another re-embedding job holds the lease." },
  EMBEDDING_SPACE_MISMATCH: {
    group: "conflict",
    retry: "never",
    meaning: "The embedder does not produce the vectors that are stored.",
  },
  CURSOR_EXPIRED: { group: "state", retry: "never", meaning: "The cursor is older than the changes that are kept." },
  BUSY: {
    group: "state",
    retry: "later",
    meaning: "A lock was not free within the bound, or the write queue is full.",
  },
  DISK_FULL: {
    group: "state",
    retry: "later",
    meaning: "The disk, the quota or the limit of a file's size is used up; nothing acknowledged is lost.",
  },
  EMBEDDING_FAILED: { group: "remote", retry: "later", meaning: "The embedder did not answer with usable vectors." },
  HOOK_FAILED: { group: "remote", retry: "later", meaning: "A function that the caller gave failed." },
  REMOTE_FAILED: { group: "remote", retry: "later", meaning: "A remote backend failed or could not be reached." },
  FOREIGN_STORAGE: {
    group: "integrity",
    retry: "never",
    meaning: "The file, folder or table is not Holdfast's; it is left as it is.",
  },
  FORMAT_TOO_NEW: {
    group: "integrity",
    retry: "never",
    meaning: "The database or the archive was written by a newer version of Holdfast.",
  },
  DAMAGED: {
    group: "integrity",
    retry: "never",
    meaning: "The database or a row in it is damaged; it is left as it is.",
  },
  ABORTED: {
    group: "abort",
    retry: "safe",
    meaning: "The caller's signal ended the call; `outcome` says whether a write was applied.",
  },
  TIMEOUT: {
    group: "abort",
    retry: "safe",
    meaning: "The call did not finish in time; `outcome` says whether a write was applied.",
  },
  BUG: { group: "bug", retry: "never", meaning: "Holdfast broke one of its own invariants; please report it." },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;
