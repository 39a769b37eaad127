import { neverCancelled } from "../io/cancellation.ts";
import { systemClock } from "../io/clock.ts";
import { openConnection } from "./drivers/open-connection.ts";
import { resultCodeOf, toDatabaseError } from "./errors.ts";
import { formatOf } from "./format.ts";
import { retryWhileLocked } from "./lock-wait.ts";
import type { DatabasePlan, EngineSettings } from "./operation.ts";

/**
 * Raises what {@link formatOf} raises, through a connection that only reads: one that may write would, when it is closed,
 * move the log of a database that is refused into its file (E6).
 */
export function assertOurs({ path, inMemory, lockTimeoutMs }: EngineSettings, { formats }: DatabasePlan): void {
  if (inMemory) return;
  try {
    retryWhileLocked({ clock: systemClock, lockTimeoutMs }, neverCancelled, () => {
      const connection = openConnection(path, { readOnly: true, mustExist: true });
      try {
        formatOf(connection, path, formats);
      } finally {
        connection.close();
      }
    });
  } catch (error) {
    if (!isForWritersAlone(error)) throw toDatabaseError(error, { path, outcome: "none" });
  }
}

const READONLY = 8;
const CANTOPEN = 14;

/** What an interrupted creation left can be read by one who may undo it. */
function isForWritersAlone(error: unknown): boolean {
  const code = resultCodeOf(error);
  return code === READONLY || code === CANTOPEN;
}
