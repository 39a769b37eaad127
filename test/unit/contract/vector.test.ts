import { describe, expect, it } from "vitest";
import { type VectorInput, writeVector } from "../../../src/contract/vector.ts";

const write = (input: unknown, dimensions = 3): Float32Array => {
  const target = new Float32Array(dimensions + 2);
  writeVector(input as VectorInput, dimensions, target, 1, "record 7");
  return target;
};
const invalid = expect.objectContaining({ code: "INVALID_VECTOR" });

describe("writing a vector", () => {
  it("[V10] copies every kind of input rounded to float32 and answers the squared norm of what it wrote", () => {
    const values = [0.1, -2, 3];
    for (const input of [values, new Float32Array(values), new Float64Array(values)]) {
      expect([...write(input)]).toEqual([0, Math.fround(0.1), -2, 3, 0]);
    }
    const rounded = Math.fround(0.1);
    expect(writeVector(values, 3, new Float32Array(3), 0, "x")).toBe(rounded * rounded + 4 + 9);
  });

  it("[V10] another number of dimensions is refused, naming both", () => {
    for (const input of [[], [1, 2], [1, 2, 3, 4], new Float32Array(2)]) {
      expect(() => write(input)).toThrow(expect.objectContaining({ code: "DIMENSION_MISMATCH" }));
    }
    expect(() => write([1, 2])).toThrow(/record 7.* 2 dimensions.* 3/);
  });

  it.each([
    ["NaN", [1, Number.NaN, 0], 1],
    ["Infinity", [1, 0, Number.POSITIVE_INFINITY], 2],
    ["minus Infinity", new Float64Array([Number.NEGATIVE_INFINITY, 0, 1]), 0],
    ["beyond float32", [1, 1e39, 0], 1],
    ["a text", [1, "5", 0], 1],
    ["a hole", new Array(3), 0],
    ["undefined", [1, undefined, 0], 1],
    ["null", [1, null, 0], 1],
    ["a bigint", [1, 2n, 0], 1],
    ["opposite infinities", [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0], 0],
  ])("[V10] a component that is %s is refused, naming its place", (_, input, component) => {
    expect(() => write(input)).toThrow(invalid);
    expect(() => write(input)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ component, where: "record 7" }) }),
    );
  });

  it("[V10] zero vectors and norms below 2^-126 are refused, and the smallest norm is taken", () => {
    for (const input of [[0, 0, 0], [-0, 0, 0], [1e-46, 0, 0], [2 ** -127, 0, 0], new Float32Array(3)]) {
      expect(() => write(input)).toThrow(invalid);
    }
    expect(() => write([2 ** -126, 0, 0])).not.toThrow();
    expect(() => write([2 ** -127, 2 ** -127, 2 ** -126])).not.toThrow();
    expect(() => write([3.4e38, 3.4e38, 3.4e38])).not.toThrow();
  });

  it("[V11] a missing vector and one of another type are refused", () => {
    for (const input of [
      undefined,
      null,
      "1,2,3",
      { length: 3, 0: 1, 1: 1, 2: 1 },
      new Int32Array(3),
      new DataView(new ArrayBuffer(12)),
      5,
    ]) {
      expect(() => write(input)).toThrow(invalid);
    }
  });
});
