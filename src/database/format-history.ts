import type { Connection } from "./connection.ts";

/** Makes one format of the next older one, inside the upgrading transaction: all of it, or nothing. */
export interface FormatStep {
  /** The version that it starts from; it ends at the next. */
  readonly from: number;
  readonly run: (connection: Connection) => void;
}

export interface FormatHistory {
  /** The version that this package writes. */
  readonly version: number;
  /** One for each version that was ever released, oldest first. */
  readonly steps: readonly FormatStep[];
}

/**
 * Raised by every change of a table's meaning; read inside every transaction (E6). A new version comes with the step
 * that leads to it and with a folder of the version before it, for the tests.
 */
export const FORMATS: FormatHistory = { version: 1, steps: [] };

/** The steps from a version to the present one; `undefined` when there is no way. */
export function stepsFrom({ version, steps }: FormatHistory, from: number): readonly FormatStep[] | undefined {
  const way = steps.filter((step) => step.from >= from && step.from < version);
  return from < version && way.length === version - from ? way : undefined;
}
