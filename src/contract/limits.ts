/** Limits of every door, each with its unit last. Checked before anything is embedded or written (V14). */
export const LIMITS = {
  /** Dimensions of a vector: 16,384 float32 values are one small chunk (64 KiB) of the vector pool. */
  dimensionsMax: 16_384,
  /** Declared properties of one store: SQLite allows 2,000 columns; filters and rows stay readable far below. */
  propertiesPerStoreMax: 256,
  /** Records of one batch, which is one commit. */
  recordsPerBatchMax: 1_000_000,
  /** Matches of one query. */
  queryLimitMax: 10_000,
  /** Query vectors of one `queryMany`. */
  queryVectorsMax: 10_000,
  /** Ids of one `get`, `delete` or score-by-id call. */
  idsPerCallMax: 1_000_000,
  /** Rows of one page of a scan. */
  scanPageMax: 10_000,
  /** UTF-8 bytes of a record id, and of ids of tenants, sessions, users and events. */
  idBytesMax: 512,
  /** UTF-8 bytes of one text property or event text: SQLite's own limit is 1e9 a row. */
  textBytesMax: 268_435_456,
  filterDepthMax: 100,
  filterNodesMax: 10_000,
  filterInValuesMax: 10_000,
  /** UTF-8 bytes of a filter written as text. */
  filterTextBytesMax: 65_536,
} as const;
