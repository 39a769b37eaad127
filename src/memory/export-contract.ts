import type { JsonValue } from "./blocks.ts";
import type { ListOptions, ScopedListOptions } from "./event-contract.ts";

/**
 * A value of a property that JSON keeps: a string, a bool, a number, `{ $int }` beyond ±(2^53 − 1), `{ $float }` for a
 * float that large, `{ $datetime }` with the offset that was written.
 */
export type ExportedValue =
  | string
  | number
  | boolean
  | { readonly $int: string }
  | { readonly $float: string }
  | { readonly $datetime: string };

/** An event as `holdfast import` reads it: what it says now, exact in JSON. */
export interface ExportedEvent {
  readonly session: string;
  readonly user?: string;
  readonly id: string;
  /** With the offset that was written: `2026-05-01T14:00:00.000000+02:00`. */
  readonly at: string;
  readonly producer?: string;
  readonly role?: string;
  readonly kind?: string;
  /** Absent where there are blocks. */
  readonly text?: string;
  readonly blocks?: readonly { readonly type?: string; readonly text?: string; readonly data?: JsonValue }[];
  readonly properties?: Readonly<Record<string, ExportedValue>>;
}

export interface ExportPage {
  /** By time, as `list` has them. */
  readonly events: readonly ExportedEvent[];
  /** Give it as `after` for the next page; absent when this is the last. */
  readonly next?: string;
  /** Events left out because their checksum did not hold (E11). */
  readonly damaged: number;
}

/** Reading events in a form that loses nothing in JSON. */
export interface ExportCalls<Options extends ScopedListOptions = ListOptions> {
  /** Like `list`, in the form in which events are carried elsewhere: types of properties and offsets of times stay. */
  exportEvents(options?: Options): Promise<ExportPage>;
}
