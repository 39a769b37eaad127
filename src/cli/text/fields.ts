import { dim, type Output } from "../output.ts";
import { toPrintableLine } from "./printable.ts";
import { displayWidth, padLine, wrapText } from "./width.ts";

/** One field a line, its values in one column; long values go on under their beginning. */
export function renderFields(fields: readonly (readonly [string, string])[], output: Output): string {
  const names = fields.map(([name]) => toPrintableLine(name));
  const room = Math.max(...names.map(displayWidth));
  const lines = fields.flatMap(([, value], index) =>
    wrapText(toPrintableLine(value), output.columns - room - 1).map(
      (line, part) => `${dim(output, padLine(part === 0 ? (names[index] ?? "") : "", room))} ${line}`,
    ),
  );
  return `${lines.join("\n")}\n`;
}
