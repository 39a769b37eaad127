import type { CallOptions, Erasure } from "../../contract/store.ts";
import type { Database } from "../../database/database.ts";
import type { WriteOperation } from "../../database/operation.ts";
import { yieldToEventLoop } from "../../io/clock.ts";
import type { Tombstone } from "../../registry/tombstones.ts";
import { reclaimLife, reclaimStep } from "./reclaim.ts";

const STEP_BYTES = 256;

/** How often an erasure asks for the log to be emptied while others still read an older state. */
const TRUNCATE_ATTEMPTS = 20;

/** Reclaims ended lives beside the traffic: bounded steps, each a commit of its own in the writer's queue (G1). */
export class Reclaimer {
  readonly #database: Database;
  readonly #steps: readonly WriteOperation<null, boolean>[];
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = false;

  /** @param before - steps of the layers above, which end lives that are then reclaimed here */
  constructor(database: Database, before: readonly WriteOperation<null, boolean>[] = []) {
    this.#database = database;
    this.#steps = [...before, reclaimStep];
  }

  /** Begins unless it runs already, and then looks once more; ends by itself when nothing is left. */
  wake(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#running ??= this.#run();
  }

  /** Begins, and waits until nothing is left that was there now. */
  async finish(): Promise<void> {
    this.wake();
    await this.#running;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#again && !this.#stopped) {
        // A deletion that is told of while a step is under way may be behind that step.
        this.#again = false;
        for (const step of this.#steps) {
          while (!this.#stopped && (await this.#database.write(step, null, { sizeBytes: STEP_BYTES })))
            await yieldToEventLoop();
        }
      }
    } catch {
      // Whatever stops a step leaves the tombstone: the next write, open or deletion goes on from there.
    } finally {
      // In the same turn as the last look at `#again`, so that no deletion falls between.
      this.#running = undefined;
    }
  }
}

/** Reclaims one ended life and empties the log; returns when nothing is left of it in the files, or `pending` (G1, E14). */
export async function eraseLife(
  database: Database,
  tombstone: Tombstone | undefined,
  options: CallOptions,
): Promise<Erasure> {
  if (tombstone !== undefined) {
    while (await database.write(reclaimLife, tombstone, { ...options, sizeBytes: STEP_BYTES }))
      await yieldToEventLoop();
  }
  return eraseLog(database);
}

/** Deleted bytes are zeroed in their pages at once; older copies of the pages go when the log is emptied. */
export async function eraseLog(database: Database): Promise<Erasure> {
  if (database.settings.inMemory) return "complete";
  for (let attempt = 0; attempt < TRUNCATE_ATTEMPTS; attempt += 1) {
    if (await database.truncateLog()) return "complete";
    await yieldToEventLoop();
  }
  return "pending";
}
