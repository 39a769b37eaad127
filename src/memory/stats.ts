import { type ReadOperation, readOperation } from "../database/operation.ts";
import { currentSpace } from "../embedding/spaces.ts";
import type { DeclaredProperty } from "./declared-contract.ts";
import { declaredKeys } from "./declared-keys.ts";
import { countPending } from "./pending-rows.ts";
import { listPipelines, type PipelineNames } from "./pipelines.ts";
import { requireTenant, type TenantLife } from "./tenants.ts";
import { tenantPartition } from "./vector-records.ts";

export interface StatsRow {
  readonly sessions: number;
  readonly events: number;
  readonly segments: number;
  /** Words in the text index. */
  readonly words: number;
  readonly vectors: number;
  readonly pending: { readonly waiting: number; readonly parked: number };
  /** Answers that are kept for retries (V17). */
  readonly receipts: number;
  /** The embedding space that serves, as its identity says; absent before the first vector. */
  readonly space: string | undefined;
  readonly dimensions: number | undefined;
  readonly pipelines: readonly PipelineNames[];
  /** Keys that `openMemory` declared, and whether filters on them act on columns already (S4). */
  readonly declared: readonly DeclaredProperty[];
  readonly fileBytes: number;
  readonly sqlite: string;
  readonly driver: string;
}

/** Counts of one tenant, and the size of the whole file. */
export const memoryStats: ReadOperation<TenantLife, StatsRow> = readOperation("memory.stats", (view, tenant) => {
  const { connection } = view;
  const { documents, tokens } = requireTenant(connection, tenant);
  const count = (sql: string, ...parameters: (number | string)[]): number =>
    Number(connection.prepare(sql).get(...parameters)?.count ?? 0);
  const space = currentSpace(connection);
  const life = space && tenantPartition(view, space, tenant);
  const vectors = life ? count("SELECT records AS count FROM partitions WHERE partition = ?", life.partition) : 0;
  return {
    sessions: count("SELECT count(*) AS count FROM sessions WHERE tenant = ? AND ending = 0", tenant.tenant),
    events: count("SELECT count(*) AS count FROM events WHERE tenant = ?", tenant.tenant),
    segments: documents,
    words: tokens,
    vectors,
    pending: countPending(connection, tenant, undefined),
    receipts: count("SELECT count(*) AS count FROM receipts WHERE tenant = ?", tenant.tenant),
    space: space?.identity,
    dimensions: space?.dimensions,
    pipelines: listPipelines(connection),
    declared: declaredKeys(connection).map(({ name, kind, complete }) => ({ name, kind, complete })),
    fileBytes: count("SELECT page_count * page_size AS count FROM pragma_page_count(), pragma_page_size()"),
    sqlite: connection.driver.sqliteVersion,
    driver: connection.driver.name,
  };
});
