/** A node of a prepared filter; `fill` writes to `mask[at]` and on, and is called for at most one block. */
export interface ColumnNode {
  fill(from: number, to: number, mask: Uint8Array, at: number): void;
  admits(row: number): boolean;
}

export function constant(admitted: boolean): ColumnNode {
  return {
    fill: (from, to, mask, at) => {
      mask.fill(admitted ? 1 : 0, at, at + to - from);
    },
    admits: () => admitted,
  };
}

export class NotNode implements ColumnNode {
  readonly #operand: ColumnNode;

  constructor(operand: ColumnNode) {
    this.#operand = operand;
  }

  fill(from: number, to: number, mask: Uint8Array, at: number): void {
    this.#operand.fill(from, to, mask, at);
    const end = at + to - from;
    for (let index = at; index < end; index += 1) mask[index] = (mask[index] as number) ^ 1;
  }

  admits(row: number): boolean {
    return !this.#operand.admits(row);
  }
}

export class AndNode implements ColumnNode {
  readonly #operands: readonly ColumnNode[];
  readonly #scratch: Uint8Array;

  constructor(operands: readonly ColumnNode[], scratch: Uint8Array) {
    this.#operands = operands;
    this.#scratch = scratch;
  }

  fill(from: number, to: number, mask: Uint8Array, at: number): void {
    const scratch = this.#scratch;
    const rows = to - from;
    this.#operands[0]?.fill(from, to, mask, at);
    for (let operand = 1; operand < this.#operands.length; operand += 1) {
      this.#operands[operand]?.fill(from, to, scratch, 0);
      for (let row = 0; row < rows; row += 1) mask[at + row] = (mask[at + row] as number) & (scratch[row] as number);
    }
  }

  admits(row: number): boolean {
    return this.#operands.every((operand) => operand.admits(row));
  }
}

export class OrNode implements ColumnNode {
  readonly #operands: readonly ColumnNode[];
  readonly #scratch: Uint8Array;

  constructor(operands: readonly ColumnNode[], scratch: Uint8Array) {
    this.#operands = operands;
    this.#scratch = scratch;
  }

  fill(from: number, to: number, mask: Uint8Array, at: number): void {
    const scratch = this.#scratch;
    const rows = to - from;
    this.#operands[0]?.fill(from, to, mask, at);
    for (let operand = 1; operand < this.#operands.length; operand += 1) {
      this.#operands[operand]?.fill(from, to, scratch, 0);
      for (let row = 0; row < rows; row += 1) mask[at + row] = (mask[at + row] as number) | (scratch[row] as number);
    }
  }

  admits(row: number): boolean {
    return this.#operands.some((operand) => operand.admits(row));
  }
}
