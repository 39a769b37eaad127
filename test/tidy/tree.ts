import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** One breach of a rule, as `path:line what`: an editor jumps there. */
export type Finding = string;

/** A rule over one parsed file; pure, so that a test can show it a bad example. */
export type Rule = (file: ts.SourceFile) => readonly Finding[];

let listed: readonly string[] | undefined;

/** Paths from the root of every file that is tracked or would be, in sorted order. */
export function filesOf(...folders: readonly string[]): readonly string[] {
  listed ??= execFileSync("git", ["ls-files", "-z", "-c", "-o", "--exclude-standard"], { cwd: ROOT, encoding: "utf8" })
    .split("\0")
    .filter((path) => path !== "" && isThere(path))
    .sort();
  return folders.length === 0 ? listed : listed.filter((path) => folders.some((f) => path.startsWith(`${f}/`)));
}

/** A file that was deleted but not yet committed is still listed by git. */
function isThere(path: string): boolean {
  return readBytes(path) !== undefined;
}

function readBytes(path: string): Buffer | undefined {
  try {
    return readFileSync(`${ROOT}${path}`);
  } catch {
    return undefined;
  }
}

export function textOf(path: string): string {
  return readFileSync(`${ROOT}${path}`, "utf8");
}

export function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
}

const parsed = new Map<string, ts.SourceFile>();

/** Every TypeScript file under the folders; each is parsed once a run. */
export function parsedFiles(...folders: readonly string[]): readonly ts.SourceFile[] {
  const paths = filesOf(...folders).filter((path) => extname(path) === ".ts");
  return paths.map((path) => {
    const file = parsed.get(path) ?? parse(path, textOf(path));
    parsed.set(path, file);
    return file;
  });
}

/** All nodes of a file, depth first. */
export function nodesOf(root: ts.Node): readonly ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    nodes.push(node);
    ts.forEachChild(node, visit);
  };
  visit(root);
  return nodes;
}

export function findingAt(file: ts.SourceFile, node: ts.Node, what: string): Finding {
  const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line;
  return `${file.fileName}:${line + 1} ${what}`;
}

/**
 * Where a rule makes a file worse, the line says why: `// tidy: <reason>`, on the line itself or the one above.
 * A reason of one word is none.
 */
export function isExcused(file: ts.SourceFile, node: ts.Node): boolean {
  const lines = file.text.split("\n");
  const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
  return [lines[line], lines[line - 1]].some((text) => /\/\/ tidy: \S+ \S+/.test(text ?? ""));
}

/** The module names of every import, export-from and `import()` of a file. */
export function* importsOf(file: ts.SourceFile): Generator<ts.StringLiteral> {
  for (const node of nodesOf(file)) {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      if (node.moduleSpecifier !== undefined && ts.isStringLiteral(node.moduleSpecifier)) yield node.moduleSpecifier;
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [name] = node.arguments;
      if (name !== undefined && ts.isStringLiteral(name)) yield name;
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      if (ts.isStringLiteral(node.argument.literal)) yield node.argument.literal;
    }
  }
}
