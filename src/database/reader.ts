import { HoldfastError } from "../errors/index.ts";
import type { Cancellation } from "../io/cancellation.ts";
import type { Clock } from "../io/clock.ts";
import { type Connection, rollback } from "./connection.ts";
import { toDatabaseError } from "./errors.ts";
import { assertSameDatabase } from "./file-guard.ts";
import { assertFormat } from "./format.ts";
import { retryWhileLocked } from "./lock-wait.ts";
import type { DatabasePlan, EngineSettings, ReadOperation, ReadView } from "./operation.ts";
import { Resources } from "./resources.ts";

/** Runs each read operation in one read transaction: what it follows, scans and fetches is of one moment (Q9). */
export class Reader {
  readonly #connection: Connection;
  readonly #plan: DatabasePlan;
  readonly #settings: EngineSettings;
  readonly #clock: Clock;
  readonly #resources: Resources;

  constructor(connection: Connection, plan: DatabasePlan, settings: EngineSettings, clock: Clock) {
    this.#connection = connection;
    this.#plan = plan;
    this.#settings = settings;
    this.#clock = clock;
    this.#resources = new Resources(settings);
  }

  run(name: string, input: unknown, cancellation: Cancellation): unknown {
    const operation = this.#plan.operations.get(name);
    if (operation?.kind !== "read") throw new HoldfastError("BUG", `No read operation is named ${name}.`);
    const view: ReadView = {
      connection: this.#connection,
      cancellation,
      resource: (factory) => this.#resources.get(factory),
    };
    const { path, lockTimeoutMs } = this.#settings;
    let value: unknown;
    try {
      retryWhileLocked({ clock: this.#clock, lockTimeoutMs }, cancellation, () => {
        cancellation.assertLive();
        assertSameDatabase(this.#settings);
        value = this.#transaction(() => (operation as ReadOperation<unknown, unknown>).run(view, input));
      });
    } catch (error) {
      throw toDatabaseError(error, { path, outcome: "none" });
    }
    return value;
  }

  close(): void {
    this.#resources.close();
    this.#connection.close();
  }

  #transaction(action: () => unknown): unknown {
    this.#connection.exec("BEGIN");
    try {
      assertFormat(this.#connection, this.#settings.path, this.#plan.formats);
      const value = action();
      this.#connection.exec("COMMIT");
      return value;
    } catch (error) {
      rollback(this.#connection);
      throw error;
    }
  }
}
