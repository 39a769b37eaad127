import type { ReadView } from "../../database/operation.ts";
import type { Life } from "../../registry/lives.ts";
import type { StoreRow } from "../../registry/stores.ts";
import { needsBigints, type RecordRow, readRow } from "./codec.ts";
import { recordSql } from "./tables.ts";

/** Rows fetched by one statement: bounds what is held between the file and the chunk. */
const ROWS_PER_PAGE = 512;

/** A row as it was found: `record` is absent when its checksum does not hold. */
export interface FoundRow {
  readonly row: number;
  readonly checksum: number;
  readonly record: RecordRow | undefined;
}

/** Rows of a partition behind `row`, oldest first, in pages, never one long cursor. */
export function* rowsBehind(view: ReadView, life: Life, store: StoreRow, behind: number): Generator<FoundRow> {
  const schema = store.properties;
  const select = view.connection.prepare(recordSql(store.store, schema).behind, { bigints: needsBigints(schema) });
  for (let last = behind; ; ) {
    view.cancellation.assertLive();
    const page = select.all(life.partition, last, ROWS_PER_PAGE);
    for (const row of page) {
      last = Number(row.row);
      yield { row: last, checksum: Number(row.checksum), record: readRow(row, life.partition, schema) };
    }
    if (page.length < ROWS_PER_PAGE) return;
  }
}
