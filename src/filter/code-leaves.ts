import type { ColumnNode } from "./column-node.ts";

/** Bools, and the presence of int64 values. */
export function bytesEqual(values: Uint8Array, wanted: number): ColumnNode {
  return {
    fill(from, to, { bytes }) {
      for (let row = from; row < to; row += 1) bytes[row - from] = Number(values[row] === wanted);
    },
    admits: (row) => values[row] === wanted,
  };
}

export function bytesNotEqual(values: Uint8Array, refused: number): ColumnNode {
  return {
    fill(from, to, { bytes }) {
      for (let row = from; row < to; row += 1) bytes[row - from] = Number(values[row] !== refused);
    },
    admits: (row) => values[row] !== refused,
  };
}

/**
 * Texts, by their code in the dictionary.
 *
 * @param wanted - codes below `distinct`; `undefined` for a text that no row has
 */
export function codesIn(codes: Int32Array, distinct: number, wanted: readonly (number | undefined)[]): ColumnNode {
  // One byte a code, moved by one so that the absent value's −1 has its own, which stays 0.
  const admitted = new Uint8Array(distinct + 1);
  for (const code of wanted) if (code !== undefined) admitted[code + 1] = 1;
  return {
    fill(from, to, { bytes }) {
      for (let row = from; row < to; row += 1) bytes[row - from] = admitted[(codes[row] as number) + 1] as number;
    },
    admits: (row) => admitted[(codes[row] as number) + 1] === 1,
  };
}
