/** An instant of the years 0001–9999 in UTC, and how it was written. */
export interface Instant {
  /** Since 1970-01-01T00:00:00Z, without leap seconds. */
  readonly microseconds: bigint;
  /** As written: `Z`, `+02:00`, `-00:44:30`. */
  readonly offset: string;
}

/** Anything with a `Temporal.Instant`'s `epochNanoseconds`. */
export interface InstantLike {
  readonly epochNanoseconds: bigint;
}

const DATE = "(\\d{4})-(\\d{2})-(\\d{2})";
const DATETIME = new RegExp(
  `^${DATE}[Tt ](\\d{2}):(\\d{2}):(\\d{2})(?:\\.(\\d{1,6}))?([Zz]|[+-](\\d{2}):(\\d{2})(?::(\\d{2}))?)?$`,
);
const DATE_ONLY = new RegExp(`^${DATE}$`);

const DAY_SECONDS = 86_400;
const MICROSECONDS = 1_000_000n;
/** 0001-01-01T00:00:00.000000Z */
const FIRST = BigInt(daysSince1970(1, 1, 1) * DAY_SECONDS) * MICROSECONDS;
/** 9999-12-31T23:59:59.999999Z */
const LAST = BigInt(daysSince1970(10_000, 1, 1) * DAY_SECONDS) * MICROSECONDS - 1n;

/**
 * Reads an RFC 3339 text (V7). Without an offset it is UTC; an offset may have seconds.
 *
 * @returns `undefined` for what is no instant: another form, more than six fraction digits, a leap second,
 *   a day that the month lacks, an instant outside the years 0001–9999 in UTC
 */
export function parseDatetime(text: string): Instant | undefined {
  const match = DATETIME.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", offset = "Z", ...offsetParts] = match;
  const days = dayNumber(year, month, day);
  const time = secondsOf(hour, minute, second);
  const shift = secondsOf(offsetParts[0] ?? "0", offsetParts[1] ?? "0", offsetParts[2] ?? "0");
  if (days === undefined || time === undefined || shift === undefined) return undefined;
  const seconds = days * DAY_SECONDS + time - (offset.startsWith("-") ? -shift : shift);
  const microseconds = BigInt(seconds) * MICROSECONDS + BigInt(fraction.padEnd(6, "0"));
  return isInRange(microseconds) ? { microseconds, offset: offset.toUpperCase() } : undefined;
}

/** Reads `YYYY-MM-DD` as midnight UTC, for places that take a date by name; `undefined` for what is none. */
export function parseDate(text: string): Instant | undefined {
  const match = DATE_ONLY.exec(text);
  const days = match === null ? undefined : dayNumber(match[1], match[2], match[3]);
  if (days === undefined) return undefined;
  const microseconds = BigInt(days * DAY_SECONDS) * MICROSECONDS;
  return isInRange(microseconds) ? { microseconds, offset: "Z" } : undefined;
}

/** The instant of a `Date` (milliseconds) or of a `Temporal.Instant`; `undefined` for what is neither, invalid or finer than microseconds. */
export function instantOf(value: unknown): Instant | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const microseconds = ofDate(value) ?? ofTemporal(value);
  return microseconds !== undefined && isInRange(microseconds) ? { microseconds, offset: "Z" } : undefined;
}

/** Writes the canonical text `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
export function formatDatetime(microseconds: bigint): string {
  const remainder = ((microseconds % 1_000n) + 1_000n) % 1_000n;
  const text = new Date(Number((microseconds - remainder) / 1_000n)).toISOString();
  return `${text.slice(0, -1)}${String(remainder).padStart(3, "0")}Z`;
}

const OFFSET = /^([+-])(\d\d):(\d\d)(?::(\d\d))?$/;

/** The instant as its writer's clock showed it; in UTC where that is not a year from 0001 to 9999. */
export function formatWithOffset(microseconds: bigint, offset: string): string {
  const [, sign, hours, minutes, seconds = "0"] = OFFSET.exec(offset) ?? [];
  if (sign === undefined) return formatDatetime(microseconds);
  const ahead = BigInt(Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * MICROSECONDS;
  const written = `${formatDatetime(microseconds + (sign === "+" ? ahead : -ahead)).slice(0, -1)}${offset}`;
  return parseDatetime(written)?.microseconds === microseconds ? written : formatDatetime(microseconds);
}

function ofDate(value: object): bigint | undefined {
  try {
    // Throws for everything but a Date, also for one of another realm's look-alikes.
    const milliseconds = Date.prototype.getTime.call(value);
    return Number.isFinite(milliseconds) ? BigInt(milliseconds) * 1_000n : undefined;
  } catch {
    return undefined;
  }
}

function ofTemporal(value: object): bigint | undefined {
  const nanoseconds = (value as Partial<InstantLike>).epochNanoseconds;
  return typeof nanoseconds === "bigint" && nanoseconds % 1_000n === 0n ? nanoseconds / 1_000n : undefined;
}

function isInRange(microseconds: bigint): boolean {
  return microseconds >= FIRST && microseconds <= LAST;
}

function secondsOf(hour = "", minute = "", second = ""): number | undefined {
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  return h < 24 && m < 60 && s < 60 ? (h * 60 + m) * 60 + s : undefined;
}

function dayNumber(yearText = "", monthText = "", dayText = ""): number | undefined {
  const [year, month, day] = [Number(yearText), Number(monthText), Number(dayText)];
  if (month < 1 || month > 12 || day < 1) return undefined;
  const first = daysSince1970(year, month, 1);
  const next = month === 12 ? daysSince1970(year + 1, 1, 1) : daysSince1970(year, month + 1, 1);
  return day <= next - first ? first + day - 1 : undefined;
}

/** `Date.UTC` of the proleptic Gregorian calendar; 400 years on, because it takes the years 0–99 for 1900–1999. */
function daysSince1970(year: number, month: number, day: number): number {
  const daysOf400Years = 146_097;
  return Date.UTC(year + 400, month - 1, day) / (DAY_SECONDS * 1_000) - daysOf400Years;
}
