import { PartitionWriter } from "../backends/embedded/records.ts";
import type { BoundValue } from "../contract/property-values.ts";
import type { CallOptions } from "../contract/store.ts";
import type { Connection } from "../database/connection.ts";
import type { Database } from "../database/database.ts";
import {
  type ReadOperation,
  readOperation,
  type WriteOperation,
  type WriteUnit,
  writeOperation,
} from "../database/operation.ts";
import { currentSpace } from "../embedding/spaces.ts";
import { HoldfastError } from "../errors/index.ts";
import { yieldToEventLoop } from "../io/clock.ts";
import { propertiesOf } from "../segments/sqlite/event-properties.ts";
import { columnOf, declaredKeys, declaredValues } from "./declared-keys.ts";
import { vectorId } from "./derivatives.ts";
import { tenantPartition } from "./vector-records.ts";

const STEP_BYTES = 256;

/** Segments of one commit. */
const SEGMENTS_PER_STEP = 500;

/** Whether a key's column lacks values of what was there before: an open without any begins no write. */
export const hasUnfilled: ReadOperation<null, boolean> = readOperation(
  "memory.has-unfilled",
  (view) => view.connection.prepare("SELECT 1 AS found FROM declared_fill").get() !== undefined,
);

export interface FillStep {
  /** Segments that were looked at. */
  readonly segments: number;
  readonly more: boolean;
}

/**
 * One bounded step of giving older vectors the values of keys that were declared later. The commit of the last step
 * marks the keys complete. Any process may take any step, so that a fill goes on after a crash (S4).
 */
export const fillDeclared: WriteOperation<null, FillStep> = writeOperation("memory.fill-declared", (unit) => {
  const { connection } = unit;
  const fill = connection.prepare("SELECT filled_to, up_to FROM declared_fill").get();
  if (fill === undefined) return { segments: 0, more: false };
  const rows = connection
    .prepare(
      "SELECT segment, event, tenant, vectors FROM segments WHERE segment > ? AND segment <= ? ORDER BY segment LIMIT ?",
    )
    .all(Number(fill.filled_to), Number(fill.up_to), SEGMENTS_PER_STEP);
  const columns = new ColumnWriter(unit, { areEmpty: true });
  for (const row of rows)
    columns.write({
      tenant: Number(row.tenant),
      event: Number(row.event),
      segment: Number(row.segment),
      vectors: Number(row.vectors),
    });
  columns.finish();
  const more = rows.length === SEGMENTS_PER_STEP;
  if (more) connection.prepare("UPDATE declared_fill SET filled_to = ?").run(Number(rows.at(-1)?.segment));
  else {
    connection.exec("DELETE FROM declared_fill");
    connection.exec("UPDATE declared_keys SET complete = 1");
  }
  return { segments: rows.length, more };
});

interface VectorsOfSegment {
  readonly tenant: number;
  readonly event: number;
  readonly segment: number;
  readonly vectors: number;
}

/** Writes the values of declared keys beside vectors that are there, of any tenants, inside one unit. */
export class ColumnWriter {
  readonly #unit: WriteUnit;
  readonly #areEmpty: boolean;
  readonly #columns: readonly string[];
  readonly #partitions = new Map<number, PartitionWriter | undefined>();

  /** @param areEmpty - columns are empty where they do not hold the event's values yet */
  constructor(unit: WriteUnit, { areEmpty }: { readonly areEmpty: boolean }) {
    this.#unit = unit;
    this.#areEmpty = areEmpty;
    this.#columns = declaredKeys(unit.connection).map(columnOf);
  }

  write({ tenant, event, segment, vectors }: VectorsOfSegment): void {
    if (this.#columns.length === 0 || vectors === 0) return;
    // Whatever has become of the event's other rows: its properties decide, as they do where it is found by them.
    const values = declaredValues(this.#unit, tenant, propertiesOf(this.#unit.connection, event));
    if (this.#areEmpty && values.every((value) => value === undefined)) return;
    const partition = this.#partition(tenant);
    if (partition === undefined) return;
    const changes = new Map<string, BoundValue | null>(
      this.#columns.map((column, index) => [column, values[index] ?? null]),
    );
    for (let place = 0; place < vectors; place += 1) patchWhole(partition, vectorId(segment, place), changes);
  }

  finish(): void {
    for (const partition of this.#partitions.values()) partition?.finish(true);
  }

  #partition(tenant: number): PartitionWriter | undefined {
    if (!this.#partitions.has(tenant)) this.#partitions.set(tenant, partitionOf(this.#unit, tenant));
    return this.#partitions.get(tenant);
  }
}

/** A damaged vector is never answered, whatever its columns say (E11). */
function patchWhole(partition: PartitionWriter, id: string, changes: ReadonlyMap<string, BoundValue | null>): void {
  try {
    partition.patch(id, changes);
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "DAMAGED") throw error;
  }
}

/** `undefined` for a tenant that has ended: its vectors went with it. */
function partitionOf(unit: WriteUnit, tenant: number): PartitionWriter | undefined {
  const space = currentSpace(unit.connection);
  const life = findTenantLife(unit.connection, tenant);
  if (space === undefined || life === undefined) return undefined;
  const partition = tenantPartition(unit, space, life);
  return partition && new PartitionWriter(unit, partition);
}

function findTenantLife(connection: Connection, tenant: number) {
  const row = connection.prepare("SELECT id, incarnation FROM tenants WHERE tenant = ?").get(tenant);
  return row && { tenant, id: String(row.id), incarnation: String(row.incarnation) };
}

/** Fills columns beside the traffic from the open on, one commit after another, and ends with the memory. */
export class DeclaredFiller {
  readonly #database: Database;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(database: Database) {
    this.#database = database;
  }

  wake(): void {
    if (this.#stopped || !this.#database.lookup(hasUnfilled, null)) return;
    this.#running ??= this.#run();
  }

  /** Fills what is left, beside any other process that does. */
  async finish(options: CallOptions, onStep: (step: FillStep) => void): Promise<void> {
    while (this.#database.lookup(hasUnfilled, null)) {
      if (this.#stopped)
        throw new HoldfastError("CLOSED", "The memory was closed while keys were filled; the next open goes on.");
      onStep(await this.#database.write(fillDeclared, null, { ...options, sizeBytes: STEP_BYTES }));
      await yieldToEventLoop();
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      await this.finish({}, () => undefined);
    } catch {
      // Whatever stops a step leaves the row of the fill: the next open or call goes on from there.
    } finally {
      this.#running = undefined;
    }
  }
}
