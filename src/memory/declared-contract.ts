import type { PropertyKind } from "../contract/properties.ts";
import type { CallOptions } from "../contract/store.ts";

/** A key of events that `openMemory({ properties })` declared. */
export interface DeclaredProperty {
  readonly name: string;
  readonly kind: PropertyKind;
  /** Whether the columns beside all vectors hold its values; until then filters on it are answered from the events. */
  readonly complete: boolean;
}

export interface FillDeclaredOptions extends CallOptions {
  /** Told after each commit how many segments this call has looked at. */
  readonly onProgress?: (progress: { readonly segments: number }) => void;
}

/** The properties of events that lie beside the vectors (S4). */
export interface DeclaredProperties {
  /**
   * Gives the vectors that were there before the values of keys that were declared later, and returns when each key is
   * complete. It also runs by itself from the open on; a call that ends early keeps what is done.
   *
   * @throws TIMEOUT, ABORTED, CLOSED
   */
  fillDeclared(options?: FillDeclaredOptions): Promise<void>;
}
