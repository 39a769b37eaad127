export { ERROR_CODES, type ErrorCode, type ErrorGroup, type ErrorOutcome, type ErrorRetry } from "./codes.ts";
export { type ErrorDetails, type ErrorOptions, HoldfastError, isHoldfastError } from "./holdfast-error.ts";
export { fromWire, toWire, type WireError } from "./wire.ts";
