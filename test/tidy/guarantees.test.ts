import ts from "typescript";
import { describe, expect, it } from "vitest";
import { type Finding, filesOf, nodesOf, parse, parsedFiles, textOf } from "./tree.ts";

const DOCUMENT = "docs/guarantees.md";

interface Guarantee {
  readonly id: string;
  readonly line: number;
  readonly enforcedBy: readonly string[];
}

/** Which rules the names of a file's tests cite: `it("[V3] …")`, `it("[V3, V4] …")`. */
type Citations = ReadonlyMap<string, ReadonlySet<string>>;

describe("guarantees", () => {
  const cited: Citations = new Map(
    parsedFiles("test", "src/testkit").map((file) => [file.fileName, citationsOf(file)]),
  );

  it("each is enforced by tests that exist and cite it", () => {
    const guarantees = guaranteesOf(textOf(DOCUMENT));
    const existing = new Set(filesOf());
    expect(guarantees.length).toBeGreaterThan(0);
    expect(guarantees.flatMap((guarantee) => unproven(guarantee, existing, cited))).toEqual([]);
  });

  it("no two have one id", () => {
    const ids = guaranteesOf(textOf(DOCUMENT)).map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it("one that nothing proves is named", () => {
    const tests = 'describe("[A1] x", () => { it("[A1, A2] y", f); it(`[A3] z`, f); it.each(rows)("[A4] %s", f); });';
    const file = parse("test/unit/a.test.ts", tests);
    expect([...citationsOf(file)].sort()).toEqual(["A1", "A2", "A3", "A4"]);
    const text = [
      "## Group",
      "### A1",
      "We keep it.",
      "",
      "Enforced by: `test/unit/a.test.ts`",
      "",
      "### A5",
      "",
      "Enforced by: `test/unit/a.test.ts`,",
      "`test/unit/gone.test.ts`",
      "",
      "### A6",
      "No line.",
    ].join("\n");
    const known: Citations = new Map([["test/unit/a.test.ts", citationsOf(file)]]);
    const found = guaranteesOf(text).flatMap((g) => unproven(g, new Set(["test/unit/a.test.ts"]), known));
    expect(found).toEqual([
      "docs/guarantees.md:7 A5: no test in test/unit/a.test.ts cites [A5]",
      "docs/guarantees.md:7 A5: test/unit/gone.test.ts does not exist",
      'docs/guarantees.md:12 A6: has no "Enforced by:" with test files',
    ]);
  });
});

/** An entry is a heading `### V3`, words, and a paragraph `Enforced by:` with the test files in backquotes. */
function guaranteesOf(text: string): readonly Guarantee[] {
  const lines = text.split("\n");
  const starts = lines.flatMap((line, index) => (/^### [A-Z]\d+[a-z]?\b/.test(line) ? [index] : []));
  return starts.map((start) => {
    const rest = lines.slice(start + 1);
    const length = rest.findIndex((line) => /^#{1,3} /.test(line));
    const paragraphs = rest
      .slice(0, length < 0 ? rest.length : length)
      .join("\n")
      .split(/\n\s*\n/);
    const enforcement = paragraphs.find((paragraph) => paragraph.trimStart().startsWith("Enforced by:")) ?? "";
    const enforcedBy = [...enforcement.matchAll(/`([^`]+\.ts)`/g)].map((match) => match[1] ?? "");
    return { id: /[A-Z]\d+[a-z]?/.exec(lines[start] ?? "")?.[0] ?? "", line: start + 1, enforcedBy };
  });
}

function unproven(
  { id, line, enforcedBy }: Guarantee,
  existing: ReadonlySet<string>,
  cited: Citations,
): readonly Finding[] {
  const at = `${DOCUMENT}:${line} ${id}:`;
  if (enforcedBy.length === 0) return [`${at} has no "Enforced by:" with test files`];
  return enforcedBy.flatMap((path) => {
    if (!existing.has(path)) return [`${at} ${path} does not exist`];
    return cited.get(path)?.has(id) === true ? [] : [`${at} no test in ${path} cites [${id}]`];
  });
}

function citationsOf(file: ts.SourceFile): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const node of nodesOf(file)) {
    if (!ts.isCallExpression(node) || !/^(it|test|describe)\b/.test(node.expression.getText(file))) continue;
    const [name] = node.arguments;
    if (name === undefined) continue;
    for (const match of name.getText(file).matchAll(/\[([A-Z]\d+[a-z]?(?:, ?[A-Z]\d+[a-z]?)*)\]/g)) {
      for (const id of (match[1] ?? "").split(/, ?/)) ids.add(id);
    }
  }
  return ids;
}
