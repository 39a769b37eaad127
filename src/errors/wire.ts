import type { ErrorCode } from "./codes.ts";
import { type ErrorDetails, HoldfastError, isHoldfastError } from "./holdfast-error.ts";

/** An error as it crosses a thread: structured clone keeps neither the class nor the code. */
export interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retry: HoldfastError["retry"];
  readonly outcome: HoldfastError["outcome"];
  readonly details: ErrorDetails;
  readonly operation: string | undefined;
  readonly backend: string | undefined;
  readonly cause: { readonly message: string; readonly stack: string | undefined } | undefined;
}

/** Flattens an error for a message; anything that is not ours becomes BUG with its message and stack kept. */
export function toWire(error: unknown): WireError {
  const ours = isHoldfastError(error) ? error : new HoldfastError("BUG", messageOf(error), { cause: error });
  const { code, message, retry, outcome, details, operation, backend } = ours;
  const cause = ours.cause === undefined ? undefined : { message: messageOf(ours.cause), stack: stackOf(ours.cause) };
  return { code, message, retry, outcome, details, operation, backend, cause };
}

/** The inverse of {@link toWire}. */
export function fromWire(wire: WireError): HoldfastError {
  const { code, message, retry, outcome, details, operation, backend, cause } = wire;
  const inner = cause === undefined ? undefined : new Error(cause.message);
  if (inner !== undefined && cause?.stack !== undefined) inner.stack = cause.stack;
  return new HoldfastError(code, message, {
    retry,
    outcome,
    details,
    ...(operation !== undefined && { operation }),
    ...(backend !== undefined && { backend }),
    ...(inner !== undefined && { cause: inner }),
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined;
}
