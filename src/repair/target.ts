import type { Connection, SqlValue } from "../database/connection.ts";
import { openConnection } from "../database/drivers/open-connection.ts";
import { isRowError } from "../database/errors.ts";
import { configure, prepareFormat } from "../database/format.ts";
import type { DatabasePlan, EngineSettings, WriteUnit } from "../database/operation.ts";
import { Resources } from "../database/resources.ts";
import { neverCancelled } from "../io/cancellation.ts";
import { systemClock } from "../io/clock.ts";

/** Rows of one commit: nobody waits for the file that is made, and memory stays bounded. */
const ROWS_PER_COMMIT = 500;

/** The database that a repair makes: a new one, written as the product writes. */
export class Target {
  readonly connection: Connection;
  readonly unit: WriteUnit;
  /** Runs before each commit: sums that are kept in memory are written with what they are of. */
  beforeCommit: () => void = () => undefined;
  #rows = 0;

  constructor(path: string, plan: DatabasePlan) {
    const nowMicros = systemClock.nowMicros();
    this.connection = openConnection(path, { readOnly: false, mustExist: false });
    configure(this.connection, { exclusive: false, autoCheckpoint: true });
    prepareFormat(this.connection, plan, {
      path,
      bound: { clock: systemClock, lockTimeoutMs: 0 },
      nowMicros,
      exclusive: true,
    });
    const resources = new Resources(settingsOf(path));
    this.unit = {
      connection: this.connection,
      cancellation: neverCancelled,
      nowMicros,
      resource: (factory) => resources.get(factory),
    };
    this.connection.exec("BEGIN IMMEDIATE");
  }

  /** One row more is written; commits now and then. */
  next(): void {
    this.#rows += 1;
    if (this.#rows % ROWS_PER_COMMIT !== 0) return;
    this.beforeCommit();
    this.connection.exec("COMMIT; BEGIN IMMEDIATE");
  }

  /** Writes a row under its columns' names; answers its number. */
  put(table: string, row: Readonly<Record<string, SqlValue>>, verb: "INSERT" | "INSERT OR REPLACE" = "INSERT"): number {
    const names = Object.keys(row);
    const columns = names.map((name) => `"${name}"`).join(", ");
    const sql = `${verb} INTO "${table}" (${columns}) VALUES (${names.map(() => "?").join(", ")})`;
    return this.connection.prepare(sql).run(...Object.values(row)).lastInsertRowid;
  }

  /** The same for a row that may be one that cannot be: answers why, and leaves it out. */
  insert(
    table: string,
    row: Readonly<Record<string, SqlValue>>,
    verb: "INSERT" | "INSERT OR REPLACE" = "INSERT",
  ): string | undefined {
    try {
      this.put(table, row, verb);
      this.next();
      return undefined;
    } catch (error) {
      if (!isRowError(error)) throw error;
      return (error as Error).message;
    }
  }

  /** Everything is in the file, without a log, when it returns. */
  finish(): void {
    this.beforeCommit();
    this.connection.exec("COMMIT");
    this.connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
  }

  close(): void {
    this.connection.close();
  }
}

function settingsOf(path: string): EngineSettings {
  return {
    path,
    fileIdentity: undefined,
    lockTimeoutMs: 0,
    receiptRetentionMs: 0,
    memoryBudgetBytes: 1 << 20,
    inMemory: false,
    exclusive: true,
    readOnly: false,
    openPath: path,
    copiedStamp: undefined,
  };
}
