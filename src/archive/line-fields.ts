import { parseDatetime } from "../contract/datetime.ts";
import { assertId } from "../contract/names.ts";
import { assertWellFormed } from "../contract/text.ts";
import { HoldfastError } from "../errors/index.ts";

/** The fields of one line, each taken once; whatever is left over is refused. */
export class LineFields {
  readonly #fields: Map<string, unknown>;

  /** @param value - of `JSON.parse` */
  constructor(value: unknown) {
    if (!isObject(value)) throw invalid("it is no JSON object");
    this.#fields = new Map(Object.entries(value));
  }

  take(name: string): unknown {
    const value = this.#fields.get(name);
    this.#fields.delete(name);
    return value;
  }

  /** A text that is not empty, of at most `lengthMax` UTF-16 units. */
  text(name: string, lengthMax: number): string {
    const value = this.take(name);
    if (typeof value !== "string" || value.length === 0 || value.length > lengthMax)
      throw invalid(`${name} is a text of 1 to ${lengthMax} characters`);
    assertWellFormed(value, name);
    return value;
  }

  id(name: string): string {
    const value = this.take(name);
    assertId(value, name);
    return value;
  }

  optionalId(name: string): string | undefined {
    return this.#fields.has(name) ? this.id(name) : undefined;
  }

  /** A whole number within bounds. */
  count(name: string, min: number, max: number): number {
    const value = this.take(name);
    if (Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max) return Number(value);
    throw invalid(`${name} is a whole number from ${min} to ${max}`);
  }

  /** Microseconds since 1970. */
  instant(name: string): bigint {
    return toInstant(this.take(name), undefined, name).microseconds;
  }

  optionalInstant(name: string): bigint | undefined {
    return this.#fields.has(name) ? this.instant(name) : undefined;
  }

  /** An instant and the offset that it was written with. */
  instantWithOffset(name: string): { readonly microseconds: bigint; readonly offset: string } {
    return toInstant(this.take(name), this.take("offset"), name);
  }

  /** Raises what nobody has taken: a field that this version does not know would be lost in silence. */
  assertTaken(): void {
    const [left] = this.#fields.keys();
    if (left !== undefined) throw invalid(`there is no field ${JSON.stringify(left.slice(0, 64))}`);
  }
}

/** Times are in UTC; the offset stands beside them, since at the ends of the calendar no local time could be written. */
export function toInstant(
  text: unknown,
  offset: unknown,
  name: string,
): { readonly microseconds: bigint; readonly offset: string } {
  const instant = typeof text === "string" && text.endsWith("Z") ? parseDatetime(text) : undefined;
  if (instant === undefined) throw invalid(`${name} is a time such as 2026-05-01T12:00:00.000000Z`);
  if (offset === undefined) return { microseconds: instant.microseconds, offset: "Z" };
  if (typeof offset !== "string" || !isOffset(offset)) throw invalid("offset is one such as +02:00 or -00:44:30");
  return { microseconds: instant.microseconds, offset };
}

function isOffset(offset: string): boolean {
  return parseDatetime(`2000-06-15T12:00:00${offset}`)?.offset === offset;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What is wrong with a line; whoever reads the archive adds where. */
export function invalid(reason: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", reason);
}
