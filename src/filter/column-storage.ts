import type { PropertyKind } from "../contract/properties.ts";
import type { BoundValue } from "../contract/property-values.ts";
import { HoldfastError } from "../errors/index.ts";

/**
 * One property of all rows as a typed array. "No value" is a value of its own where the type has one to spare,
 * so that a loop over it reads one array: NaN in floats, −1 in codes, 2 in bools; int64 has a byte of presence.
 */
export type ColumnStorage = Int64Storage | FloatStorage | StringStorage | BoolStorage;

export function createStorage(kind: PropertyKind): ColumnStorage {
  switch (kind) {
    case "int":
    case "datetime":
      return new Int64Storage();
    case "float":
      return new FloatStorage();
    case "string":
      return new StringStorage();
    case "bool":
      return new BoolStorage();
    default:
      return kind satisfies never;
  }
}

/** Splits int64 into halves without bigint arithmetic. */
const SPLIT = new BigInt64Array(1);
const HALVES = new Int32Array(SPLIT.buffer);
/** Where the high half lies; the low one is at the other place. */
const HIGH: 0 | 1 = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;

/** An int64 as a signed high half and a low half. */
export function splitInt64(value: bigint): { readonly high: number; readonly low: number } {
  SPLIT[0] = value;
  return { high: HALVES[HIGH] as number, low: (HALVES[1 - HIGH] as number) >>> 0 };
}

export class Int64Storage {
  readonly type = "int64";
  high: Int32Array = new Int32Array(0);
  low: Uint32Array = new Uint32Array(0);
  present: Uint8Array = new Uint8Array(0);
  #isNarrow = true;
  #isComplete = true;

  /** Every value so far is an int32: its low half, read as signed, says it all. */
  get isNarrow(): boolean {
    return this.#isNarrow;
  }

  /** Every row so far has a value. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  reserve(capacity: number): void {
    this.high = grown(this.high, new Int32Array(capacity));
    this.low = grown(this.low, new Uint32Array(capacity));
    this.present = grown(this.present, new Uint8Array(capacity));
  }

  set(row: number, value: BoundValue | undefined): void {
    if (value === undefined) {
      this.#isComplete = false;
      return;
    }
    if (typeof value !== "bigint") throw mistyped("bigint");
    SPLIT[0] = value;
    const [high, low] = [HALVES[HIGH] as number, HALVES[1 - HIGH] as number];
    this.high[row] = high;
    this.low[row] = low;
    this.present[row] = 1;
    if (high !== low >> 31) this.#isNarrow = false;
  }

  get(row: number): BoundValue | undefined {
    if (this.present[row] !== 1) return undefined;
    return BigInt(this.high[row] as number) * 4_294_967_296n + BigInt(this.low[row] as number);
  }

  byteLength(): number {
    return this.high.byteLength + this.low.byteLength + this.present.byteLength;
  }
}

export class FloatStorage {
  readonly type = "float";
  values: Float64Array = new Float64Array(0);

  reserve(capacity: number): void {
    const next = new Float64Array(capacity).fill(Number.NaN, this.values.length);
    this.values = grown(this.values, next);
  }

  set(row: number, value: BoundValue | undefined): void {
    if (value === undefined) return;
    if (typeof value !== "number") throw mistyped("number");
    // One zero, whatever the caller's: membership compares bits.
    this.values[row] = value === 0 ? 0 : value;
  }

  get(row: number): BoundValue | undefined {
    const value = this.values[row] as number;
    return Number.isNaN(value) ? undefined : value;
  }

  byteLength(): number {
    return this.values.byteLength;
  }
}

export class StringStorage {
  readonly type = "string";
  codes: Int32Array = new Int32Array(0);
  readonly #codeOf = new Map<string, number>();
  readonly #texts: string[] = [];
  #textBytes = 0;

  /** How many different texts there are; codes are 0 … count − 1. */
  get distinct(): number {
    return this.#texts.length;
  }

  /** The code of a text; `undefined` when no row has had it. */
  codeOf(text: string): number | undefined {
    return this.#codeOf.get(text);
  }

  reserve(capacity: number): void {
    const next = new Int32Array(capacity).fill(-1, this.codes.length);
    this.codes = grown(this.codes, next);
  }

  set(row: number, value: BoundValue | undefined): void {
    if (value === undefined) return;
    if (typeof value !== "string") throw mistyped("string");
    this.codes[row] = this.#codeOf.get(value) ?? this.#add(value);
  }

  get(row: number): BoundValue | undefined {
    return this.#texts[this.codes[row] as number];
  }

  byteLength(): number {
    // V8: a map entry and an array slot, about 48 bytes a text beside its characters.
    return this.codes.byteLength + this.#textBytes + this.#texts.length * 48;
  }

  #add(text: string): number {
    const code = this.#texts.length;
    this.#codeOf.set(text, code);
    this.#texts.push(text);
    this.#textBytes += text.length * 2;
    return code;
  }
}

export class BoolStorage {
  readonly type = "bool";
  /** 0 false, 1 true, 2 no value. */
  values: Uint8Array = new Uint8Array(0);

  reserve(capacity: number): void {
    const next = new Uint8Array(capacity).fill(2, this.values.length);
    this.values = grown(this.values, next);
  }

  set(row: number, value: BoundValue | undefined): void {
    if (value === undefined) return;
    if (typeof value !== "boolean") throw mistyped("boolean");
    this.values[row] = value ? 1 : 0;
  }

  get(row: number): BoundValue | undefined {
    const value = this.values[row];
    return value === 2 ? undefined : value === 1;
  }

  byteLength(): number {
    return this.values.byteLength;
  }
}

function grown<Values extends { readonly length: number; set(values: Values): void }>(
  old: Values,
  next: Values,
): Values {
  next.set(old);
  return next;
}

function mistyped(expected: string): HoldfastError {
  return new HoldfastError("BUG", `A column was given a value that is no bound ${expected}; please report it.`);
}
