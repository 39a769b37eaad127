import type { ArchivedKey, ArchivedPipeline } from "../archive/archived.ts";
import type { PropertySchema } from "../contract/properties.ts";
import {
  type ReadOperation,
  readOperation,
  type WriteOperation,
  type WriteUnit,
  writeOperation,
} from "../database/operation.ts";
import { HoldfastError } from "../errors/index.ts";
import { declareKeys } from "./declared-keys.ts";
import { dropImport } from "./imports.ts";
import { notePipeline } from "./pipelines.ts";
import { assertTakeable } from "./stage-archive.ts";
import { endLives, findTenant, type TenantLife } from "./tenants.ts";

/** Raises ALREADY_EXISTS for an id under which nothing can be taken in. */
export const requireTakeable: ReadOperation<string, null> = readOperation("memory.require-takeable", (view, id) => {
  assertTakeable(view.connection, id);
  return null;
});

export interface PublishInput {
  readonly import: number;
  /** Lines that were taken in. */
  readonly lines: number;
  /** What the archive's last line counts. */
  readonly events: number;
  readonly segments: number;
  readonly pipelines: readonly ArchivedPipeline[];
  readonly keys: readonly ArchivedKey[];
  /** The tenant whose life the caller holds. */
  readonly own: string;
}

export interface PublishOutput {
  /** False when what was taken in has lost something since, such as by damage: it was let go. */
  readonly isWhole: boolean;
  /** The life of the caller's tenant, now. */
  readonly own: TenantLife | undefined;
}

/** Makes everything that was taken in visible at once: from this commit on its tenants are found. */
export const publishImport: WriteOperation<PublishInput, PublishOutput> = writeOperation(
  "memory.publish-import",
  (unit, input) => {
    const { connection } = unit;
    const row = connection
      .prepare("SELECT lines, declares_keys, published FROM imports WHERE import = ?")
      .get(input.import);
    if (row !== undefined && row.published !== null) return { isWhole: true, own: findTenant(connection, input.own) };
    if (row === undefined || Number(row.lines) !== input.lines)
      throw new HoldfastError("BUSY", "Another process takes in the same archive; let it end.", {
        outcome: "not-applied",
      });
    if (!isWhole(unit, input)) {
      dropImport(unit, input.import);
      return { isWhole: false, own: undefined };
    }
    const tenants = connection.prepare("SELECT tenant, id FROM tenants WHERE import = ?").all(input.import);
    for (const { id } of tenants) removeUntouched(unit, String(id));
    connection.prepare("UPDATE tenants SET import = NULL WHERE import = ?").run(input.import);
    for (const pipeline of input.pipelines) notePipeline(connection, pipeline, Number(pipeline.firstAt));
    if (row.declares_keys === 1) declareKeys.run(unit, schemaOf(input.keys));
    const published = JSON.stringify(tenants.map(({ tenant }) => Number(tenant)));
    connection
      .prepare("UPDATE imports SET published = ?, touched_at = ? WHERE import = ?")
      .run(published, unit.nowMicros, input.import);
    return { isWhole: true, own: findTenant(connection, input.own) };
  },
);

/** Whether there is as much as the archive says: an import may have been interrupted for long. */
function isWhole({ connection }: WriteUnit, { import: begun, events, segments }: PublishInput): boolean {
  const row = connection
    .prepare(
      `SELECT coalesce(sum(documents), 0) AS segments,
         coalesce(sum((SELECT count(*) FROM events AS e WHERE e.tenant = t.tenant)), 0) AS events
       FROM tenants AS t WHERE import = ?`,
    )
    .get(begun);
  return Number(row?.events) === events && Number(row?.segments) === segments;
}

/** An empty tenant of the same id gives way: its handles are of an ended life. */
function removeUntouched(unit: WriteUnit, id: string): void {
  assertTakeable(unit.connection, id);
  const life = findTenant(unit.connection, id);
  if (life === undefined) return;
  unit.connection.prepare("DELETE FROM tenants WHERE tenant = ?").run(life.tenant);
  endLives(unit, life.tenant);
}

export function schemaOf(keys: readonly ArchivedKey[]): PropertySchema {
  return Object.fromEntries(keys.map(({ name, kind }) => [name, kind]));
}
