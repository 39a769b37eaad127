import type { HoldfastError } from "../errors/index.ts";

const CAUSE_DEPTH = 4;

/** Names of failures, as Node and HTTP clients write them; anything else may hold what nobody should read. */
const CODE = /^[A-Z][A-Z0-9_]{1,40}$/;

/**
 * Why an embedding failed, in a form that may be kept and shown: codes and status numbers, never the messages of an
 * embedder, which may quote texts and keys (O4). For example `EMBEDDING_FAILED, status 429`.
 */
export function failureReason(error: HoldfastError): string {
  const parts: string[] = [error.code];
  let cause: unknown = error.cause;
  for (let depth = 0; depth < CAUSE_DEPTH && typeof cause === "object" && cause !== null; depth += 1) {
    const { status, statusCode, code, cause: inner } = cause as Readonly<Record<string, unknown>>;
    const number = Number(status ?? statusCode);
    if (Number.isInteger(number) && number >= 100 && number < 600) parts.push(`status ${number}`);
    if (typeof code === "string" && CODE.test(code)) parts.push(code);
    cause = inner;
  }
  return [...new Set(parts)].join(", ");
}
