/** What a caller learned of an error. */
export interface CaughtError {
  readonly code: string;
  readonly outcome: "none" | "not-applied" | "applied" | "unknown";
  readonly retry: string;
  readonly message: string;
  readonly reason?: string;
}

/** One step of the import that `children/import-plan.js` runs, and what became of it. */
export interface ImportStep {
  /** Steps of one wave are sent at once. */
  readonly wave: number;
  /** The texts that it gives to events, by their ids; `null` for those that it forgets. */
  readonly sets: Readonly<Record<string, string | null>>;
  readonly error?: CaughtError;
}

/** The texts that each event may have afterwards, `null` for none: one unless the outcome of a step is unknown. */
export function allowedTexts(steps: readonly ImportStep[]): ReadonlyMap<string, ReadonlySet<string | null>> {
  const allowed = new Map<string, ReadonlySet<string | null>>();
  for (const { sets, error } of steps) {
    const outcome = error === undefined ? "applied" : error.outcome;
    for (const [id, text] of Object.entries(sets)) {
      const before = allowed.get(id) ?? new Set([null]);
      if (outcome === "applied") allowed.set(id, new Set([text]));
      else allowed.set(id, outcome === "unknown" ? new Set([...before, text]) : before);
    }
  }
  return allowed;
}
