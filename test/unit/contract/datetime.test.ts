import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDatetime, instantOf, parseDate, parseDatetime } from "../../../src/contract/datetime.ts";

const canonical = (text: string): string | undefined => {
  const instant = parseDatetime(text);
  return instant && formatDatetime(instant.microseconds);
};

describe("datetimes", () => {
  it.each([
    ["2024-01-01T00:00:00+05:30", "2023-12-31T18:30:00.000000Z"],
    ["2023-12-31T18:30:00Z", "2023-12-31T18:30:00.000000Z"],
    ["2023-12-31t18:30:00.5z", "2023-12-31T18:30:00.500000Z"],
    ["2023-12-31 18:30:00", "2023-12-31T18:30:00.000000Z"],
    ["1900-01-01T00:00:00-00:44:30", "1900-01-01T00:44:30.000000Z"],
    ["2024-02-29T23:59:59.123456Z", "2024-02-29T23:59:59.123456Z"],
    ["1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"],
    ["0000-12-31T23:00:00-02:00", "0001-01-01T01:00:00.000000Z"],
    ["0099-03-01T00:00:00Z", "0099-03-01T00:00:00.000000Z"],
    ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"],
  ])("[V7] %s is %s", (text, expected) => {
    expect(canonical(text)).toBe(expected);
  });

  it.each([
    "2024-01-01",
    "2024-01-01T00:00Z",
    "2024-01-01T24:00:00Z",
    "2024-01-01T23:59:60Z",
    "2024-01-01T00:60:00Z",
    "2024-01-01T00:00:00.1234567Z",
    "2024-01-01T00:00:00.1234560Z",
    "2024-01-01T00:00:00.Z",
    "2024-01-01T00:00:00,5Z",
    "2024-02-30T00:00:00Z",
    "2023-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2024-00-01T00:00:00Z",
    "2024-13-01T00:00:00Z",
    "2024-01-00T00:00:00Z",
    "2024-01-01T00:00:00+24:00",
    "2024-01-01T00:00:00+05:60",
    "2024-01-01T00:00:00+0530",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "0000-06-01T00:00:00Z",
    "+02024-01-01T00:00:00Z",
    "24-01-01T00:00:00Z",
    "2024-01-01T00:00:00Z\n",
    " 2024-01-01T00:00:00Z",
    "٢٠٢٤-01-01T00:00:00Z",
    "yesterday",
    "",
  ])("[V7] %j is no instant", (text) => {
    expect(parseDatetime(text)).toBeUndefined();
  });

  it("[V7] the offset is kept as it was written", () => {
    expect(parseDatetime("2024-01-01T00:00:00-00:44:30")?.offset).toBe("-00:44:30");
    expect(parseDatetime("2024-01-01T00:00:00z")?.offset).toBe("Z");
    expect(parseDatetime("2024-01-01T00:00:00")?.offset).toBe("Z");
  });

  it("[V7] a Date and a Temporal.Instant are instants, an invalid or a finer one is not", () => {
    expect(instantOf(new Date("2024-01-01T00:00:00.123Z"))?.microseconds).toBe(1_704_067_200_123_000n);
    expect(instantOf({ epochNanoseconds: 1_704_067_200_123_456_000n })?.microseconds).toBe(1_704_067_200_123_456n);
    expect(instantOf({ epochNanoseconds: 1n })).toBeUndefined();
    expect(instantOf(new Date(Number.NaN))).toBeUndefined();
    expect(instantOf(new Date(8.64e15))).toBeUndefined();
    expect(instantOf({ getTime: () => 0, [Symbol.toStringTag]: "Date" })).toBeUndefined();
  });

  it("[V7] a date by name is midnight in UTC", () => {
    expect(parseDate("1970-01-02")?.microseconds).toBe(86_400_000_000n);
    expect(parseDate("2023-02-29")).toBeUndefined();
    expect(parseDate("1970-01-02T00:00:00Z")).toBeUndefined();
  });

  it("[V7] every instant of the years 0001 to 9999 comes back from its text", () => {
    const first = parseDatetime("0001-01-01T00:00:00Z")?.microseconds ?? 0n;
    const last = parseDatetime("9999-12-31T23:59:59.999999Z")?.microseconds ?? 0n;
    fc.assert(
      fc.property(fc.bigInt(first, last), (microseconds) => {
        expect(parseDatetime(formatDatetime(microseconds))?.microseconds).toBe(microseconds);
      }),
    );
  });
});
