import { posix } from "node:path";
import type ts from "typescript";
import { describe, expect, it } from "vitest";
import { type Finding, findingAt, importsOf, parse, parsedFiles, textOf } from "./tree.ts";

/** Files directly in src: they put the layers together and are the package's surface. */
const ROOT_LAYER = "the root of src";

/** From the bottom up: a folder imports itself and what stands below it. */
const LAYERS: readonly (readonly string[])[] = [
  ["errors"],
  ["contract"],
  ["filter"],
  ["io"],
  ["database"],
  ["registry"],
  ["store"],
  ["backends"],
  ["segments"],
  ["embedding"],
  ["reranking"],
  ["archive"],
  ["memory"],
  ["verify"],
  ["repair"],
  [ROOT_LAYER],
  ["adapters", "client", "inspector", "mcp", "server", "testkit"],
  ["cli"],
];

/** These run in a browser or in another process: they know the contract alone. */
const CONTRACT_ONLY: ReadonlySet<string> = new Set(["client", "inspector"]);

const { dependencies } = JSON.parse(textOf("package.json")) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

/** Packages that a user has already where the code runs: a test runner for the exported suites. */
const PROVIDED: Readonly<Record<string, readonly string[]>> = { testkit: ["vitest", "fast-check"] };

describe("imports", () => {
  it("point one way between the folders of src", () => {
    expect(parsedFiles("src").flatMap(wrongDirections)).toEqual([]);
  });

  it("name only packages that an install brings", () => {
    expect(parsedFiles("src").flatMap(missingPackages)).toEqual([]);
  });

  it("are named with their line when they point the wrong way", () => {
    const bad = parse(
      "src/backends/embedded/tail.ts",
      [
        'import type { A } from "../../contract/a.ts";',
        'import { b } from "../../segments/b.ts";',
        'import { c } from "../qdrant/c.ts";',
        'export { d } from "../../contract/d.js";',
        'type E = import("../../memory/e.ts").E;',
      ].join("\n"),
    );
    expect(wrongDirections(bad)).toEqual([
      "src/backends/embedded/tail.ts:2 backends must not import segments",
      "src/backends/embedded/tail.ts:3 backend embedded must not import backend qdrant",
      "src/backends/embedded/tail.ts:4 relative imports end in .ts",
      "src/backends/embedded/tail.ts:5 backends must not import memory",
    ]);
    expect(wrongDirections(parse("src/client/a.ts", 'import "../io/b.ts";'))).toHaveLength(1);
    expect(wrongDirections(parse("src/server/a.ts", 'import "../mcp/b.ts";'))).toHaveLength(1);
    expect(wrongDirections(parse("src/odd/a.ts", 'import "../odd/b.ts";'))).toHaveLength(1);
    expect(wrongDirections(parse("src/errors/a.ts", 'import "../index.ts";'))).toHaveLength(1);
    expect(missingPackages(parse("src/io/a.ts", 'import ts from "typescript";\nimport "node:path";'))).toEqual([
      "src/io/a.ts:1 typescript is not a dependency",
    ]);
  });
});

function wrongDirections(file: ts.SourceFile): readonly Finding[] {
  const findings: Finding[] = [];
  for (const name of importsOf(file)) {
    if (!name.text.startsWith(".")) continue;
    const target = posix.join(posix.dirname(file.fileName), name.text);
    const fault = target.endsWith(".ts") ? faultOf(file.fileName, target) : "relative imports end in .ts";
    if (fault !== undefined) findings.push(findingAt(file, name, fault));
  }
  return findings;
}

function faultOf(from: string, to: string): string | undefined {
  const [importer, imported] = [layerOf(from), layerOf(to)];
  const [above, below] = [rankOf(importer), rankOf(imported)];
  if (above < 0 || below < 0) return `${above < 0 ? importer : imported} is no layer of src`;
  if (importer === imported) return importer === "backends" ? backendFault(from, to) : undefined;
  if (CONTRACT_ONLY.has(importer) && below > rankOf("contract")) return `${importer} imports contract and errors alone`;
  return below < above ? undefined : `${importer} must not import ${imported}`;
}

/** `src/store/a.ts` → store; `src/index.ts` → the root */
function layerOf(path: string): string {
  const [, layer, ...rest] = path.split("/");
  return rest.length === 0 ? ROOT_LAYER : (layer ?? path);
}

function rankOf(layer: string): number {
  return LAYERS.findIndex((layers) => layers.includes(layer));
}

/** Files directly in `backends` belong to none of them and may name them all. */
function backendFault(from: string, to: string): string | undefined {
  const [one, other] = [from.split("/"), to.split("/")];
  if (one.length <= 3 || one[2] === other[2]) return undefined;
  return other.length <= 3 ? undefined : `backend ${one[2]} must not import backend ${other[2]}`;
}

function missingPackages(file: ts.SourceFile): readonly Finding[] {
  const allowed = new Set([...Object.keys(dependencies), ...(PROVIDED[layerOf(file.fileName)] ?? [])]);
  const findings: Finding[] = [];
  for (const name of importsOf(file)) {
    if (name.text.startsWith(".") || name.text.startsWith("node:")) continue;
    const parts = name.text.split("/");
    const packageName = parts.slice(0, name.text.startsWith("@") ? 2 : 1).join("/");
    if (!allowed.has(packageName)) findings.push(findingAt(file, name, `${packageName} is not a dependency`));
  }
  return findings;
}
