import type { ColumnNode, MaskBlock } from "./column-node.ts";

/** Elsewhere the bytes of a word lie in the other order, and every row goes through the loop of single bytes. */
const IS_LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Turns the answers of four rows round. */
const FLIPPED_WORD = 0x01010101;

/**
 * Four rows a turn and one write for them: half the time of a loop that writes bytes. The rows behind the last whole
 * word have a loop and a counter of their own; with one counter for both loops the first takes a quarter more.
 *
 * @param wanted - whether rows that equal `value` are admitted, or the others
 */
export function int32Equals(values: Int32Array, value: number, wanted = true): ColumnNode {
  const flip = wanted ? 0 : 1;
  return {
    negation: () => int32Equals(values, value, !wanted),
    fill(from, to, { bytes, words }) {
      const [cells, same, flipped, whole] = [values, value, flip * FLIPPED_WORD, wholeWords(from, to)];
      for (let word = 0, row = from; word < whole; word += 1, row += 4) {
        const isSame =
          Number(cells[row] === same) |
          (Number(cells[row + 1] === same) << 8) |
          (Number(cells[row + 2] === same) << 16) |
          (Number(cells[row + 3] === same) << 24);
        words[word] = isSame ^ flipped;
      }
      for (let row = from + whole * 4; row < to; row += 1) bytes[row - from] = Number(cells[row] === same) ^ flip;
    },
    admits: (row) => (values[row] === value) === wanted,
  };
}

/** As {@link int32Equals}: below `limit`, or, where that is not `wanted`, at or above it. */
export function int32Below(values: Int32Array, limit: number, wanted = true): ColumnNode {
  const flip = wanted ? 0 : 1;
  return {
    negation: () => int32Below(values, limit, !wanted),
    fill(from, to, { bytes, words }) {
      const [cells, bound, flipped, whole] = [values, limit, flip * FLIPPED_WORD, wholeWords(from, to)];
      for (let word = 0, row = from; word < whole; word += 1, row += 4) {
        const isBelow =
          Number((cells[row] as number) < bound) |
          (Number((cells[row + 1] as number) < bound) << 8) |
          (Number((cells[row + 2] as number) < bound) << 16) |
          (Number((cells[row + 3] as number) < bound) << 24);
        words[word] = isBelow ^ flipped;
      }
      for (let row = from + whole * 4; row < to; row += 1) {
        bytes[row - from] = Number((cells[row] as number) < bound) ^ flip;
      }
    },
    admits: (row) => (values[row] as number) < limit === wanted,
  };
}

function wholeWords(from: number, to: number): number {
  return IS_LITTLE_ENDIAN ? (to - from) >> 2 : 0;
}

/** Refuses rows without a value, whatever `operand` says of what lies in their place. */
export function presentAnd(present: Uint8Array, operand: ColumnNode): ColumnNode {
  return {
    fill(from: number, to: number, mask: MaskBlock) {
      operand.fill(from, to, mask);
      const [presence, bytes] = [present, mask.bytes];
      for (let row = from; row < to; row += 1)
        bytes[row - from] = (bytes[row - from] as number) & (presence[row] as number);
    },
    admits: (row) => present[row] === 1 && operand.admits(row),
  };
}
