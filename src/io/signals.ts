// A signal made of others holds them weakly in Node, so that a timeout that nobody else holds is collected and never
// comes. Whoever holds the signal holds its sources here.
const sources = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/** Raised with the first of `signals`. */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  const any = AbortSignal.any([...signals]);
  sources.set(any, signals);
  return any;
}
