import ts from "typescript";
import { describe, expect, it } from "vitest";
import { type Finding, findingAt, importsOf, isExcused, nodesOf, parse, parsedFiles } from "./tree.ts";

/** What a program cannot repeat: it comes in through `src/io`, where a test can put its own. */
const UNREPEATABLE: ReadonlySet<string> = new Set([
  "Date.now",
  "Math.random",
  "performance.now",
  "process.hrtime",
  "process.hrtime.bigint",
  "randomUUID",
  "randomBytes",
  "randomInt",
  "getRandomValues",
  "setInterval",
  "setTimeout",
  // Not unrepeatable, but lost: Node may collect the timeouts that such a signal is made of. `anySignal` holds them.
  "AbortSignal.any",
]);

/** `disk.ts` says at each why no lock of SQLite's can be dropped by it; the others work where this process has no lock. */
const MAY_OPEN_FILES: Readonly<Record<string, readonly string[]>> = {
  "src/io/whole-files.ts": [
    "digestFile",
    "copyToNewFile",
    "readSlices",
    "writeAll",
    "writeNewFile",
    "readSmallFile",
    "syncFile",
    "cloneFile",
    "renamePath",
  ],
  "src/io/line-file.ts": ["openLines", "#flush"],
  "src/io/page-file.ts": ["openPages", "#fill"],
  "src/io/raw-database.ts": ["withFile", "scanLog", "readStart", "committedPages"],
  "src/io/repair-files.ts": ["writePages"],
  "src/io/disk.ts": ["createPrivateFile", "syncFolder", "refusalOfWriting"],
};

/** Functions of `node:fs` that leave a descriptor behind, if only for a moment. */
const OPENS_A_FILE =
  /^(open|read(?!dir|link)|write|append|copy|cp$|cpSync|createReadStream|createWriteStream|truncate|rename)/;

describe("ports", () => {
  it("time, randomness and ids come from src/io alone", () => {
    const files = parsedFiles("src").filter((file) => !file.fileName.startsWith("src/io/"));
    expect(files.flatMap(unrepeatable)).toEqual([]);
  });

  it("only the command line ends the process", () => {
    const files = parsedFiles("src").filter((file) => !file.fileName.startsWith("src/cli/"));
    expect(files.flatMap(exits)).toEqual([]);
  });

  it("only src/io imports node:fs", () => {
    const files = parsedFiles("src").filter((file) => !file.fileName.startsWith("src/io/"));
    expect(files.flatMap(fileSystemImports)).toEqual([]);
  });

  it("files are opened beside SQLite only by functions that are known to be safe", () => {
    expect(parsedFiles("src/io").flatMap(openedFiles)).toEqual([]);
  });

  it("a breach is named with its line", () => {
    const clock =
      "export const a = Date.now();\nnew Date();\nnew Date(0);\ncrypto.randomUUID();\nglobalThis.Math.random();";
    expect(unrepeatable(parse("src/store/a.ts", clock))).toEqual([
      "src/store/a.ts:1 Date.now",
      "src/store/a.ts:2 new Date()",
      "src/store/a.ts:4 crypto.randomUUID",
      "src/store/a.ts:5 globalThis.Math.random",
    ]);
    const excused = "// tidy: shows the user's own clock\nconst a = Date.now();";
    expect(unrepeatable(parse("src/store/a.ts", excused))).toEqual([]);
    expect(exits(parse("src/store/a.ts", "process.exit(1);"))).toHaveLength(1);
    expect(fileSystemImports(parse("src/store/a.ts", 'await import("node:fs/promises");'))).toHaveLength(1);
    const disk = 'import { openSync } from "node:fs";\nexport function peek(p: string) { return openSync(p, "r"); }';
    expect(openedFiles(parse("src/io/disk.ts", disk))).toEqual(["src/io/disk.ts:2 openSync in peek"]);
    expect(openedFiles(parse("src/io/disk.ts", 'import * as fs from "node:fs";'))).toHaveLength(1);
    expect(openedFiles(parse("src/io/disk.ts", disk.replace("peek", "syncFolder")))).toEqual([]);
  });
});

function unrepeatable(file: ts.SourceFile): readonly Finding[] {
  return nodesOf(file).flatMap((node) => {
    const what = unrepeatableCall(file, node);
    return what === undefined || isExcused(file, node) ? [] : [findingAt(file, node, what)];
  });
}

function unrepeatableCall(file: ts.SourceFile, node: ts.Node): string | undefined {
  if (ts.isNewExpression(node)) {
    return node.expression.getText(file) === "Date" && !node.arguments?.length ? "new Date()" : undefined;
  }
  if (!ts.isCallExpression(node)) return undefined;
  const name = node.expression.getText(file);
  return UNREPEATABLE.has(name.replace(/^globalThis\./, "").replace(/^crypto\./, "")) ? name : undefined;
}

function exits(file: ts.SourceFile): readonly Finding[] {
  return nodesOf(file)
    .filter((node) => ts.isCallExpression(node) && /^process\.(exit|abort|kill)$/.test(node.expression.getText(file)))
    .filter((node) => !isExcused(file, node))
    .map((node) => findingAt(file, node, "ends the process"));
}

function fileSystemImports(file: ts.SourceFile): readonly Finding[] {
  return [...importsOf(file)]
    .filter((name) => /^(node:)?fs(\/promises)?$/.test(name.text) && !isExcused(file, name))
    .map((name) => findingAt(file, name, `imports ${name.text}`));
}

/** Imports must be named, so that what is used can be seen; those that open a file are called in listed functions alone. */
function openedFiles(file: ts.SourceFile): readonly Finding[] {
  const allowed = MAY_OPEN_FILES[file.fileName] ?? [];
  const openers = new Set<string>();
  const findings: Finding[] = [];
  for (const node of nodesOf(file)) {
    if (ts.isImportDeclaration(node) && /^"(node:)?fs(\/promises)?"$/.test(node.moduleSpecifier.getText(file))) {
      const names = node.importClause?.namedBindings;
      if (names === undefined || !ts.isNamedImports(names)) {
        findings.push(findingAt(file, node, "import the functions of node:fs by name"));
        continue;
      }
      for (const { name, propertyName } of names.elements) {
        if (OPENS_A_FILE.test((propertyName ?? name).text)) openers.add(name.text);
      }
    } else if (ts.isCallExpression(node) && openers.has(node.expression.getText(file))) {
      const caller = functionAround(node);
      if (!allowed.includes(caller))
        findings.push(findingAt(file, node, `${node.expression.getText(file)} in ${caller}`));
    }
  }
  return findings;
}

function functionAround(node: ts.Node): string {
  for (let at: ts.Node | undefined = node; at !== undefined; at = at.parent) {
    if ((ts.isFunctionDeclaration(at) || ts.isMethodDeclaration(at)) && at.name !== undefined) return at.name.getText();
  }
  return "the module";
}
