import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "../errors/index.ts";
import { CancelFlags, type Cancellation, neverCancelled } from "../io/cancellation.ts";
import { giveWay, systemClock } from "../io/clock.ts";
import { makeFolder } from "../io/disk.ts";
import { mintId } from "../io/ids.ts";
import { removePath } from "../io/whole-files.ts";
import type { Connection } from "./connection.ts";
import { openConnection } from "./drivers/open-connection.ts";
import type { EngineCall, RunningCall } from "./engine.ts";
import { toDatabaseError } from "./errors.ts";
import { retryWhileLocked } from "./lock-wait.ts";
import type { DatabasePlan, EngineSettings, ReadOperation, ReadView } from "./operation.ts";
import { Resources } from "./resources.ts";
import { copyDatabase } from "./whole-database.ts";

/**
 * Runs read operations on one moment of the database, however long that takes: one read transaction from the opening to
 * the close. Writers go on meanwhile; the log keeps what they write until the snapshot is closed.
 */
export class SnapshotReader {
  readonly #connection: Connection;
  readonly #plan: DatabasePlan;
  readonly #path: string;
  readonly #resources: Resources;

  constructor(connection: Connection, plan: DatabasePlan, settings: EngineSettings) {
    this.#connection = connection;
    this.#plan = plan;
    this.#path = settings.path;
    this.#resources = new Resources(settings);
    const bound = { clock: systemClock, lockTimeoutMs: settings.lockTimeoutMs };
    retryWhileLocked(bound, neverCancelled, () => pin(connection));
  }

  run(name: string, input: unknown, cancellation: Cancellation): unknown {
    const operation = this.#plan.operations.get(name);
    if (operation?.kind !== "read") throw new HoldfastError("BUG", `No read operation is named ${name}.`);
    const view: ReadView = {
      connection: this.#connection,
      cancellation,
      resource: (factory) => this.#resources.get(factory),
    };
    try {
      cancellation.assertLive();
      return (operation as ReadOperation<unknown, unknown>).run(view, input);
    } catch (error) {
      throw toDatabaseError(error, { path: this.#path, outcome: "none" });
    }
  }

  close(): void {
    this.#resources.close();
    this.#connection.close();
  }
}

/** The moment is that of the first read, and not of BEGIN. */
function pin(connection: Connection): void {
  connection.exec("BEGIN");
  try {
    connection.prepare("SELECT count(*) AS count FROM holdfast").get();
  } catch (error) {
    connection.exec("ROLLBACK");
    throw error;
  }
}

/** One moment of a folder, as an engine answers it. */
export interface EngineSnapshot {
  read(call: EngineCall): RunningCall;
  /** Idempotent. */
  close(): Promise<void>;
}

/** A snapshot whose reads run on the calling thread. */
export class InlineSnapshot implements EngineSnapshot {
  readonly #reader: SnapshotReader;
  readonly #release: () => void;
  readonly #flags = new CancelFlags();
  #isClosed = false;

  /** @param release - called once, behind the close */
  constructor(reader: SnapshotReader, release: () => void = () => undefined) {
    this.#reader = reader;
    this.#release = release;
  }

  read(call: EngineCall): RunningCall {
    const flag = this.#flags.take();
    const run = async (): Promise<unknown> => {
      await giveWay();
      return this.#reader.run(call.name, call.input, this.#flags.watch(flag.index, "none"));
    };
    return { answer: run().finally(flag.giveBack), cancel: flag.raise };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#reader.close();
    this.#release();
  }
}

/**
 * A snapshot of a database that has one connection alone, in memory or exclusive: of a copy, in a private folder of the
 * system's temporary one, which goes with it.
 */
export function copySnapshot(connection: Connection, plan: DatabasePlan, settings: EngineSettings): InlineSnapshot {
  const folder = makeFolder(join(tmpdir(), `holdfast-snapshot-${mintId()}`));
  const path = join(folder, "snapshot.db");
  let copy: Connection | undefined;
  try {
    copyDatabase(connection, path);
    copy = openConnection(path, { readOnly: true, mustExist: true });
    const reader = new SnapshotReader(copy, plan, settings);
    return new InlineSnapshot(reader, () => removePath(folder));
  } catch (error) {
    copy?.close();
    removePath(folder);
    throw toDatabaseError(error, { path: settings.path, outcome: "none" });
  }
}
