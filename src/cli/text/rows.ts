import { bold, type Output } from "../output.ts";
import { toPrintableLine } from "./printable.ts";
import { type Column, renderTable } from "./table.ts";
import { displayWidth, wrapText } from "./width.ts";

export interface RowsForm {
  readonly columns: readonly Column[];
  /** What stands under the first cell where the table is too wide; by default the other cells. */
  readonly underneath?: (cells: readonly string[]) => readonly string[];
  /** A further part of a table that has its titles already. */
  readonly untitled?: boolean;
}

/**
 * Rows as a table; where that is wider than the terminal, each as its first cell, whole, since it is what the next
 * command is given, and the rest under it.
 */
export function renderRows(form: RowsForm, rows: readonly (readonly string[])[], output: Output): string {
  const { columns, underneath = (cells) => cells.slice(1), untitled } = form;
  const [title = "", ...lines] = renderTable(columns, rows, Number.POSITIVE_INFINITY);
  const isNarrow = [title, ...lines].some((line) => displayWidth(line) > output.columns);
  if (!isNarrow) return `${[...(untitled ? [] : [bold(output, title)]), ...lines].join("\n")}\n`;
  const blocks = rows.flatMap((cells) => {
    const rest = toPrintableLine(underneath(cells).filter(Boolean).join(" · "));
    const under = wrapText(rest, output.columns - 2).map((line) => `  ${line}`);
    return [bold(output, toPrintableLine(cells[0] ?? "")), ...under];
  });
  return `${blocks.join("\n")}\n`;
}
