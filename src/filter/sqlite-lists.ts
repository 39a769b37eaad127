/** The right side of an IN and its parameters. */
export interface SqliteList {
  readonly sql: string;
  readonly parameters: readonly (string | number | bigint)[];
}

/** Up to here each value is a parameter. With a name, three a leaf: 10,000 leaves stay below SQLite's 32,766 variables. */
const DIRECT_MAX = 2;

/**
 * Powers of two. Doubling and halving are exact, whereas SQLite reads one in 280 decimal floats of 17 digits as its
 * neighbour, and has no other way to take a list of them as one value.
 */
const POWERS = `"power"(e, up, down) AS MATERIALIZED (SELECT 0, 1.0, 1.0 UNION ALL SELECT e + 1, up * 2.0, down * 0.5 FROM "power" WHERE e < 1074)`;
const PRODUCTS = `SELECT (pair.value ->> 0) * iif(pair.value ->> 1 < 0, "power".down, "power".up) FROM json_each(?) AS pair CROSS JOIN "power" ON "power".e = abs(pair.value ->> 1)`;
const PLAIN = "SELECT value FROM json_each(?)";

/**
 * Passes a list of values as at most two parameters. Integers and texts go as a JSON array, which SQLite reads
 * exactly; floats as pairs of an integer below 2^53 and an exponent, whose product is exact.
 */
export function inList(values: readonly (string | number | bigint)[]): SqliteList {
  if (values.length <= DIRECT_MAX) return { sql: `(${values.map(() => "?").join(", ")})`, parameters: values };
  const floats = values.filter((value) => typeof value === "number");
  const others = values.filter((value) => typeof value !== "number");
  const array = `[${others.map((value) => (typeof value === "string" ? JSON.stringify(value) : value)).join(",")}]`;
  if (floats.length === 0) return { sql: `(${PLAIN})`, parameters: [array] };
  const pairs = `[${floats.map((value) => `[${decompose(value).join(",")}]`).join(",")}]`;
  const pure = others.length === 0;
  return {
    sql: `(WITH RECURSIVE ${POWERS} ${PRODUCTS}${pure ? "" : ` UNION ALL ${PLAIN}`})`,
    parameters: pure ? [pairs] : [pairs, array],
  };
}

/** The integer and the power of two that a float is the product of. */
function decompose(value: number): readonly [bigint, number] {
  const bits = new BigUint64Array(new Float64Array([value]).buffer)[0] ?? 0n;
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  const mantissa = biased === 0 ? fraction : fraction | (1n << 52n);
  return [value < 0 ? -mantissa : mantissa, Math.max(biased, 1) - 1_075];
}
