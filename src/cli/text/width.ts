const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Characters that take two columns (Unicode Standard Annex 11, classes W and F), and pictures. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;

const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const ASCII = /^[ -~]*$/;
const ELLIPSIS = "…";

/** Columns that a printable line takes on a terminal. */
export function displayWidth(line: string): number {
  if (ASCII.test(line)) return line.length;
  let width = 0;
  for (const { segment } of graphemes.segment(line)) width += graphemeWidth(segment);
  return width;
}

/** The line within `columns`, its end marked by `…` where it was cut; never inside a character. */
export function fitLine(line: string, columns: number): string {
  if (displayWidth(line) <= columns) return line;
  return `${takeColumns(line, columns - 1)}${columns > 0 ? ELLIPSIS : ""}`;
}

/** Fills up with spaces; `right` puts them before. */
export function padLine(line: string, columns: number, side: "left" | "right" = "left"): string {
  const spaces = " ".repeat(Math.max(0, columns - displayWidth(line)));
  return side === "left" ? line + spaces : spaces + line;
}

/** Lines of at most `columns`, broken at spaces where there are any; line breaks of the text stay. */
export function wrapText(text: string, columns: number): readonly string[] {
  if (columns === Number.POSITIVE_INFINITY) return text.split("\n");
  return text.split("\n").flatMap((line) => wrapLine(line, Math.max(1, columns)));
}

function wrapLine(line: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let current = "";
  let width = 0;
  for (const word of line.split(/(?<= )/)) {
    const wordWidth = displayWidth(word.trimEnd());
    if (width > 0 && width + wordWidth > columns) {
      lines.push(current.trimEnd());
      current = "";
      width = 0;
    }
    current += word;
    width += displayWidth(word);
    while (displayWidth(current.trimEnd()) > columns) {
      const head = takeColumns(current, columns) || firstGrapheme(current);
      lines.push(head);
      current = current.slice(head.length);
      width = displayWidth(current);
    }
  }
  return current.trimEnd() === "" && lines.length > 0 ? lines : [...lines, current.trimEnd()];
}

function takeColumns(line: string, columns: number): string {
  let taken = "";
  let width = 0;
  for (const { segment } of graphemes.segment(line)) {
    width += graphemeWidth(segment);
    if (width > columns) break;
    taken += segment;
  }
  return taken;
}

function firstGrapheme(line: string): string {
  for (const { segment } of graphemes.segment(line)) return segment;
  return line;
}

function graphemeWidth(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}
