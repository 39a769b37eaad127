import { toPrintableLine } from "./printable.ts";
import { displayWidth, fitLine, padLine } from "./width.ts";

export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
  /** Gives up columns when the table is wider than the terminal. */
  readonly shrinks?: true;
}

const GAP = "  ";
/** A shrunk column stays recognisable. */
const SHRUNK_MIN = 6;

/** Lines of a table, its title line first; cells are made safe to print and cut so that each line fits. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly string[] {
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => row.map(toPrintableLine))];
  const widths = fitColumns(columns, naturalWidths(columns, cells), width);
  return cells.map((row) => {
    const line = columns.map(({ align }, index) => {
      const [cell, room] = [row[index] ?? "", widths[index] ?? 0];
      return padLine(fitLine(cell, room), room, align === "right" ? "right" : "left");
    });
    return line.join(GAP).trimEnd();
  });
}

function naturalWidths(columns: readonly Column[], cells: readonly (readonly string[])[]): readonly number[] {
  return columns.map((_, index) => cells.reduce((widest, row) => Math.max(widest, displayWidth(row[index] ?? "")), 0));
}

/** Takes what is too much from the widest of the columns that may shrink, one after the other. */
function fitColumns(columns: readonly Column[], natural: readonly number[], width: number): readonly number[] {
  const widths = [...natural];
  let surplus = widths.reduce((sum, one) => sum + one + GAP.length, -GAP.length) - width;
  while (surplus > 0) {
    const widest = widestOf(columns, widths);
    if (widest === undefined) break;
    const [index, others] = widest;
    const current = widths[index] ?? 0;
    const target = Math.max(SHRUNK_MIN, Math.min(others, current - 1), current - surplus);
    surplus -= current - target;
    widths[index] = target;
  }
  return widths;
}

/** The widest column that can shrink, and the width of the next. */
function widestOf(columns: readonly Column[], widths: readonly number[]): readonly [number, number] | undefined {
  const able = columns
    .map((column, index) => ({ index, width: widths[index] ?? 0, shrinks: column.shrinks === true }))
    .filter(({ shrinks, width }) => shrinks && width > SHRUNK_MIN)
    .sort((a, b) => b.width - a.width);
  const [first, second] = able;
  return first && [first.index, second?.width ?? 0];
}
