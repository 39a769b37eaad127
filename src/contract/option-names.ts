import { HoldfastError } from "../errors/index.ts";

/** Every name of an options type; the compiler refuses a table that misses one. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/** Names of `CallOptions`, which every call takes. */
export const CALL_OPTIONS: { readonly signal: true; readonly timeoutMs: true } = { signal: true, timeoutMs: true };

/** Names of `WriteOptions`. */
export const WRITE_OPTIONS: typeof CALL_OPTIONS & { readonly idempotencyKey: true } = {
  ...CALL_OPTIONS,
  idempotencyKey: true,
};

/**
 * Refuses options that a call does not have, and those that are inherited, which not every call would see. A misspelt `user`, `where` or `dryRun` would otherwise be passed over,
 * and the call would reach further than its caller meant.
 *
 * @throws INVALID_ARGUMENT
 */
export function assertOptions(options: unknown, names: Readonly<Record<string, true>>, call: string): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw invalid(`The options of ${call} are an object such as { timeoutMs: 1000 }.`);
  const inherited = Object.keys(names).find((name) => name in options && !Object.hasOwn(options, name));
  if (inherited !== undefined)
    throw invalid(
      `The option ${inherited} of ${call} is inherited; give it as the object's own: { ...options, ${inherited} }.`,
    );
  const unknown = Object.keys(options).find((key) => !Object.hasOwn(names, key));
  if (unknown === undefined) return;
  throw invalid(
    `${call} has no option ${JSON.stringify(unknown.slice(0, 64))}; there are ${Object.keys(names).join(", ")}.`,
  );
}

/**
 * Refuses a scope that is given as `undefined`, such as the user of a request that has none: it would ask everybody's.
 *
 * @throws INVALID_ARGUMENT
 */
export function assertScope<Name extends string>(options: { readonly [Key in Name]?: unknown }, name: Name): void {
  if (Object.hasOwn(options, name) && options[name] === undefined)
    throw invalid(
      `${name} is undefined: give a value, or leave it out. A value that got lost would widen the call to all.`,
    );
}

function invalid(message: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", message);
}
