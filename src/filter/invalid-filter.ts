import { LIMITS } from "../contract/limits.ts";
import { type ErrorDetails, HoldfastError } from "../errors/index.ts";

export function invalidFilter(message: string, details: ErrorDetails = {}): HoldfastError<"INVALID_FILTER"> {
  return new HoldfastError("INVALID_FILTER", message, { details });
}

/**
 * Counts a filter's depth and nodes while it is read, so that a deep, cyclic or exploding one is refused
 * before it can end the stack or fill the memory.
 */
export class FilterBudget {
  #nodes = 0;

  /** @throws INVALID_FILTER when the node at `depth` (the root is 1) is one too many */
  spend(depth: number): void {
    if (depth > LIMITS.filterDepthMax) {
      throw invalidFilter(`The filter is deeper than ${LIMITS.filterDepthMax} levels; flatten it.`, {
        limit: LIMITS.filterDepthMax,
      });
    }
    this.#nodes += 1;
    if (this.#nodes <= LIMITS.filterNodesMax) return;
    throw invalidFilter(`The filter has more than ${LIMITS.filterNodesMax} nodes; use IN for lists of values.`, {
      limit: LIMITS.filterNodesMax,
    });
  }

  /** @throws INVALID_FILTER when an `in` has too many values */
  static assertValues(count: number): void {
    if (count <= LIMITS.filterInValuesMax) return;
    throw invalidFilter(`An IN takes at most ${LIMITS.filterInValuesMax} values; got ${count}.`, {
      limit: LIMITS.filterInValuesMax,
      count,
    });
  }
}
