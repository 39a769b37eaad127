import { hostname } from "node:os";

/** Names this process to others on the same database. */
export function ownProcess(): string {
  return `${hostname()}/${process.pid}`;
}

/**
 * Whether a process that named itself with {@link ownProcess} is surely gone. Of one on another machine, or whose number
 * is in use again, nobody knows: `false`.
 */
export function isProcessGone(name: string): boolean {
  const [host, number] = name.split("/");
  const pid = Number(number);
  if (host !== hostname() || !(Number.isSafeInteger(pid) && pid > 0)) return false;
  try {
    // tidy: signal 0 ends nothing, it asks whether there is such a process
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as { code?: unknown }).code === "ESRCH";
  }
}
