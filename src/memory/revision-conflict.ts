import { HoldfastError } from "../errors/index.ts";

/** Of two changes of one revision one wins (S12); the other reads what it says now. */
export function revisionConflict(event: string, revision: number | undefined): HoldfastError {
  const message = "The event was updated meanwhile; read it, and decide by what it says now.";
  return new HoldfastError("REVISION_CONFLICT", message, {
    details: { event, ...(revision !== undefined && { revision }) },
    outcome: "not-applied",
  });
}
