import { randomUUID } from "node:crypto";

/** A random UUID (version 4): incarnations, epochs and minted ids. */
export function mintId(): string {
  return randomUUID();
}

/** A random fraction in [0, 1): the jitter of lock waits. */
export function randomFraction(): number {
  return Math.random();
}
