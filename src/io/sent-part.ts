/** A piece of a large input, and the buffers in it that move instead of being copied. */
export interface SentPart {
  readonly part: unknown;
  readonly transfer: readonly ArrayBuffer[];
}
