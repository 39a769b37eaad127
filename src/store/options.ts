import { CALL_OPTIONS, type OptionNames, WRITE_OPTIONS } from "../contract/option-names.ts";
import type {
  CallOptions,
  DeleteOptions,
  QueryManyRequest,
  QueryOptions,
  QueryRequest,
  ScanOptions,
  WriteOptions,
} from "../contract/store.ts";
import type { Where } from "../contract/where.ts";

/** The options of a store's calls, by name. */
export const GET_OPTIONS: OptionNames<CallOptions & { readonly includeVectors?: boolean }> = {
  ...CALL_OPTIONS,
  includeVectors: true,
};

export const COUNT_OPTIONS: OptionNames<CallOptions & { readonly where?: Where }> = { ...CALL_OPTIONS, where: true };

export const SCAN_OPTIONS: OptionNames<ScanOptions> = {
  ...CALL_OPTIONS,
  where: true,
  includeVectors: true,
  pageSize: true,
  after: true,
};

export const DELETE_OPTIONS: OptionNames<DeleteOptions> = { ...WRITE_OPTIONS, dryRun: true, erase: true };

export const DELETE_PARTITION_OPTIONS: OptionNames<WriteOptions & { readonly erase?: boolean }> = {
  ...WRITE_OPTIONS,
  erase: true,
};

const QUERY_OPTIONS: OptionNames<QueryOptions> = {
  ...CALL_OPTIONS,
  limit: true,
  where: true,
  minCosineSimilarity: true,
  includeVectors: true,
  exact: true,
};

export const QUERY_REQUEST: OptionNames<QueryRequest> = { vector: true, ...QUERY_OPTIONS };

export const QUERY_MANY_REQUEST: OptionNames<QueryManyRequest> = { vectors: true, ...QUERY_OPTIONS };
