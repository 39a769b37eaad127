import { constants } from "node:os";
import { type ErrorCode, type ErrorDetails, type ErrorOutcome, HoldfastError } from "../errors/index.ts";

/** What the system refuses with, as Node names `errno`: our code, what happened, and what to do. */
const REFUSALS: ReadonlyMap<string, readonly [ErrorCode, string]> = new Map<string, readonly [ErrorCode, string]>([
  ["ENOSPC", ["DISK_FULL", "The disk is full: free space and try again. Nothing acknowledged is lost."]],
  ["EDQUOT", ["DISK_FULL", "The disk quota is used up: free space and try again. Nothing acknowledged is lost."]],
  [
    "EFBIG",
    ["DISK_FULL", "A file has reached its largest size: raise the limit (`ulimit -f`). Nothing acknowledged is lost."],
  ],
  ["EROFS", ["READ_ONLY", "The file system is read-only: mount it for writing."]],
  ["EACCES", ["READ_ONLY", "The folder or its files may not be read and written: check their owner and permissions."]],
  ["EPERM", ["READ_ONLY", "The folder or its files may not be written: check their owner and permissions."]],
  [
    "EMFILE",
    ["OUT_OF_RESOURCES", "The process has no file descriptors left: raise its limit (`ulimit -n`) or close some."],
  ],
  ["ENFILE", ["OUT_OF_RESOURCES", "The system has no file descriptors left: close programs or raise its limit."]],
  ["ENOMEM", ["OUT_OF_RESOURCES", "The system has no memory left: free some and try again."]],
  ["EAGAIN", ["OUT_OF_RESOURCES", "The system starts no more threads: end some or raise the limit (`ulimit -u`)."]],
  ["EIO", ["IO_FAILED", "The disk failed to read or write: check the medium and the system's log."]],
]);

/** The system's refusal as an error of ours; `undefined` for what is none of its known ones. */
export function refusalOf(
  reason: string | undefined,
  context: {
    readonly cause: unknown;
    readonly path?: string;
    readonly details?: ErrorDetails;
    readonly outcome?: ErrorOutcome;
  },
): HoldfastError | undefined {
  const refusal = reason === undefined ? undefined : REFUSALS.get(reason);
  if (reason === undefined || refusal === undefined) return undefined;
  const [code, message] = refusal;
  const { path, cause, outcome = "none" } = context;
  const details = { ...context.details, reason, ...(path !== undefined && { path }) };
  return new HoldfastError(code, path === undefined ? message : `${message} (${path})`, { cause, details, outcome });
}

/** The name of the refusal in an error of Node's: its code, or, where another code covers it, the one in its text. */
export function reasonOf(error: unknown): string | undefined {
  const { code, errno, message } = (error ?? {}) as Readonly<Record<"code" | "errno" | "message", unknown>>;
  if (typeof code === "string" && REFUSALS.has(code)) return code;
  // Node has no name for it.
  if (errno === -constants.errno.EDQUOT) return "EDQUOT";
  return [...REFUSALS.keys()].find((name) => new RegExp(`\\b${name}\\b`).test(String(message)));
}
