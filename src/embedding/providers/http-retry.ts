import { pause, systemClock } from "../../io/clock.ts";
import { randomFraction } from "../../io/ids.ts";

/** An answer that is no success; its body is not kept: it may quote texts and keys (O4). */
export class HttpStatusError extends Error {
  override readonly name = "HttpStatusError";
  readonly status: number;
  /** The service's own name of the failure, such as `rate_limit_exceeded`. */
  readonly reason: string | undefined;
  /** Milliseconds that the service asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, reason: string | undefined, retryAfterMs: number | undefined) {
    super(`The service answered status ${status}${reason === undefined ? "" : ` (${reason})`}.${adviceFor(status)}`);
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

const RETRIED = new Set([408, 409, 425, 429]);
const BACKOFF_MS = 500;
const BACKOFF_MAX_MS = 30_000;
/** Nobody is waited for longer, whatever a service asks. */
const RETRY_AFTER_MAX_MS = 60_000;

/**
 * Repeats a call that may succeed later: the statuses that say so, a broken connection, a call that took too long. Waits
 * as long as the service asks (Retry-After, at most a minute), else twice as long each time with jitter.
 */
export async function withRetries<T>(
  call: () => Promise<T>,
  { retries, signal }: { readonly retries: number; readonly signal: AbortSignal },
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (signal.aborted || attempt >= retries || !isRetried(error)) throw error;
      await pause(delayMs(error, attempt), signal);
      if (signal.aborted) throw error;
    }
  }
}

/** `Retry-After` in seconds or as a date, in milliseconds from now. */
export function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = Number(header);
  if (header.trim() !== "" && Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - systemClock.nowMicros() / 1_000);
}

/** How long to wait before the next try, in milliseconds. */
export function delayMs(error: unknown, attempt: number): number {
  const asked = error instanceof HttpStatusError ? error.retryAfterMs : undefined;
  // "At once" from a service that has just refused would spend every repeat within a few milliseconds.
  if (asked !== undefined) return Math.min(Math.max(asked, jittered(BACKOFF_MS)), RETRY_AFTER_MAX_MS);
  return jittered(Math.min(BACKOFF_MS * 2 ** attempt, BACKOFF_MAX_MS));
}

function jittered(ms: number): number {
  return ms * (0.5 + randomFraction() / 2);
}

/** Whatever is no status and no answer came from the way to the service: repeated too. */
function isRetried(error: unknown): boolean {
  return error instanceof HttpStatusError
    ? RETRIED.has(error.status) || error.status >= 500
    : !(error instanceof AnswerError);
}

/** An answer that is not what was asked for; asking again would bring the same. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
}

function adviceFor(status: number): string {
  if (status === 401 || status === 403) return " Check the API key and what it may do.";
  if (status === 404) return " Check baseUrl and the name of the model.";
  return "";
}
