import type { Capabilities } from "../../contract/capabilities.ts";

/** What the embedded store does; a store in memory differs in what needs a medium. */
export function embeddedCapabilities(medium: {
  readonly inMemory: boolean;
  readonly exclusive: boolean;
}): Capabilities {
  return {
    backend: medium.inMemory ? "embedded (memory)" : "embedded",
    colocated: "sqlite",
    durable: !medium.inMemory,
    multiProcess: !medium.inMemory && !medium.exclusive,
    atomicBatch: true,
    exactVectors: true,
    erase: true,
    filterNodes: ["all", "none", "equals", "ordering", "in", "isNull", "and", "or", "not"],
    stringBytesMax: null,
  };
}
