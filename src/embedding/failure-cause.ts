import { isHoldfastError } from "../errors/index.ts";

/** Answers of a service that say nothing about the texts: no access, too many calls, not there now. */
const SERVICE_STATUS = new Set([401, 402, 403, 404, 407, 408, 425, 429, 502, 503, 504]);

/** Failures of the way to a service, as Node's sockets and its fetch name them. */
const NETWORK_CODE =
  /^(?:ECONN\w+|ETIMEDOUT|ENOTFOUND|EAI_\w+|EPIPE|E(?:HOST|NET)\w+|UND_ERR_\w+|CERT_\w+|UNABLE_TO_\w+)$/u;

/** Causes are looked at this deep: fetch hides the socket's error in its cause, clients hide fetch's. */
const CAUSE_DEPTH = 4;

/**
 * Whether a failed call may succeed for some of its texts when it is repeated in parts. What is not
 * known to be the service's or the network's is taken to be about the texts: then one poison text is found.
 */
export function isAboutTexts(error: unknown): boolean {
  if (!isHoldfastError(error)) return false;
  // BUSY, CLOSED, PACKAGE_MISSING and the like would meet every part.
  if (error.code === "INVALID_TEXT" || error.code === "LIMIT_EXCEEDED") return true;
  return error.code === "EMBEDDING_FAILED" && !isServiceFailure(error.cause);
}

function isServiceFailure(cause: unknown): boolean {
  let error: unknown = cause;
  for (let depth = 0; depth < CAUSE_DEPTH && typeof error === "object" && error !== null; depth += 1) {
    const { status, statusCode, code, cause: inner } = error as Readonly<Record<string, unknown>>;
    if (SERVICE_STATUS.has(Number(status ?? statusCode))) return true;
    if (typeof code === "string" && NETWORK_CODE.test(code)) return true;
    error = inner;
  }
  return false;
}
