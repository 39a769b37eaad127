import type { FilterOperator } from "./filter-tree.ts";

/** What a backend can do, as data: tests and documents read this and nothing else. */
export interface Capabilities {
  readonly backend: string;
  /** Where writes can join the caller's own transaction (B7). */
  readonly colocated: "sqlite" | "postgres" | "none";
  /** A call that returned survives power loss (V13). `false` for a store in memory. */
  readonly durable: boolean;
  /** Several processes may open one store at once (E5). */
  readonly multiProcess: boolean;
  /** A batch is one commit (V14). */
  readonly atomicBatch: boolean;
  /** `get` answers the float32 values as written (V11). */
  readonly exactVectors: boolean;
  /** Deleted bytes can be made to leave the medium (E14). */
  readonly erase: boolean;
  /** Filter nodes that it evaluates itself (F4). */
  readonly filterNodes: readonly FilterOperator[];
  /** UTF-8 bytes of one string value; `null` where there is no limit of the backend's own. */
  readonly stringBytesMax: number | null;
}
