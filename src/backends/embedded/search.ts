import type { Operation } from "../../database/operation.ts";
import { type ReadView, readOperation } from "../../database/operation.ts";
import { type BoundFilter, evaluateColumns } from "../../filter/index.ts";
import { type Life, requireLife } from "../../registry/lives.ts";
import type { StoreRow } from "../../registry/stores.ts";
import type { Answered, BackendAnswer, BackendMatch, BackendQuery } from "../../store/backend.ts";
import type { Block } from "./block.ts";
import { needsBigints, readRow, toFloat32 } from "./codec.ts";
import { partitionCache } from "./partition-cache.ts";
import { rowsById } from "./reads.ts";
import { requireStore } from "./records.ts";
import { recordSql } from "./tables.ts";

/** A row that a search found, before its record is fetched. */
export interface Hit {
  readonly row: number;
  readonly id: string;
  readonly cosineSimilarity: number;
}
