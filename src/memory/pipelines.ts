import type { Connection } from "../database/connection.ts";

/**
 * In which ways texts were cut and what was embedded of them, by name: kept with the first text of each, so that a
 * memory that was written in several ways says so.
 */
export const PIPELINES_SCHEMA = `
CREATE TABLE pipelines (
  segmenter TEXT NOT NULL,
  derive TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  PRIMARY KEY (segmenter, derive)
) STRICT, WITHOUT ROWID;`;

export interface PipelineNames {
  readonly segmenter: string;
  readonly derive: string;
}

export function notePipeline(connection: Connection, { segmenter, derive }: PipelineNames, nowMicros: number): void {
  connection
    .prepare("INSERT OR IGNORE INTO pipelines (segmenter, derive, first_at) VALUES (?, ?, ?)")
    .run(segmenter, derive, nowMicros);
}

/** In the order of their first use. */
export function listPipelines(connection: Connection): readonly PipelineNames[] {
  return connection
    .prepare("SELECT segmenter, derive FROM pipelines ORDER BY first_at, segmenter, derive")
    .all()
    .map(({ segmenter, derive }) => ({ segmenter: String(segmenter), derive: String(derive) }));
}
