import { ERROR_CODES, type ErrorCode, type ErrorGroup, type ErrorOutcome, type ErrorRetry } from "./codes.ts";

/** Values that are safe to log: ids, names, sizes, positions. Never texts, vectors or filter values (O4). */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface ErrorOptions {
  readonly details?: ErrorDetails;
  readonly cause?: unknown;
  readonly retry?: ErrorRetry;
  readonly outcome?: ErrorOutcome;
  readonly operation?: string;
  readonly backend?: string;
}

const BRAND = Symbol.for("holdfast.error");

/** The one error that Holdfast raises. Tell it apart with {@link isHoldfastError}, which works across copies of the package. */
export class HoldfastError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "HoldfastError";
  readonly code: Code;
  readonly group: ErrorGroup;
  readonly retry: ErrorRetry;
  readonly outcome: ErrorOutcome;
  readonly details: ErrorDetails;
  readonly operation: string | undefined;
  readonly backend: string | undefined;

  constructor(code: Code, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.group = ERROR_CODES[code].group;
    this.retry = options.retry ?? ERROR_CODES[code].retry;
    this.outcome = options.outcome ?? "none";
    this.details = options.details ?? {};
    this.operation = options.operation;
    this.backend = options.backend;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** The fields that a log or a response body may carry. */
  toJSON(): Record<string, unknown> {
    const { name, code, message, group, retry, outcome, details, operation, backend } = this;
    return { name, code, message, group, retry, outcome, details, operation, backend };
  }
}

/** True for an error of Holdfast, also one that another copy of the package raised; narrows to `code` when it is given. */
export function isHoldfastError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: Code,
): error is HoldfastError<Code> {
  const branded = typeof error === "object" && error !== null && (error as { [BRAND]?: unknown })[BRAND] === true;
  return branded && (code === undefined || (error as HoldfastError).code === code);
}
