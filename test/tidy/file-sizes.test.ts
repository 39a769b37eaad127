import { basename, extname } from "node:path";
import { describe, expect, it } from "vitest";
import { type Finding, filesOf, textOf } from "./tree.ts";

const SOURCE_LINES_MAX = 400;
const TEST_LINES_MAX = 600;

/** Names that say nothing of what is inside, and so collect everything. */
const EMPTY_NAMES: ReadonlySet<string> = new Set(["utils", "util", "helpers", "helper", "common", "misc"]);

describe("files", () => {
  it("stay short enough to be read in one go", () => {
    expect(filesOf("src").flatMap((path) => tooLong(path, textOf(path), SOURCE_LINES_MAX))).toEqual([]);
    const others = filesOf("test", "scripts", "bench", "examples").filter(isCode);
    expect(others.flatMap((path) => tooLong(path, textOf(path), TEST_LINES_MAX))).toEqual([]);
  });

  it("are named for a concept, in kebab case", () => {
    const code = filesOf("src", "test", "scripts", "bench", "examples").filter(isCode);
    expect(code.flatMap(badName)).toEqual([]);
  });

  it("are named when they break a rule", () => {
    expect(tooLong("src/a.ts", "x\n".repeat(401), SOURCE_LINES_MAX)).toEqual(["src/a.ts:401 401 lines, at most 400"]);
    expect(tooLong("src/a.ts", "x\n".repeat(400), SOURCE_LINES_MAX)).toEqual([]);
    expect(badName("src/io/utils.ts")).toHaveLength(1);
    expect(badName("src/common/clock.ts")).toHaveLength(1);
    expect(badName("src/io/types.ts")).toHaveLength(1);
    expect(badName("test/types/filter.test.ts")).toEqual([]);
    expect(badName("src/io/fileSystem.ts")).toHaveLength(1);
    expect(badName("test/unit/column-scan.test.ts")).toEqual([]);
  });
});

function isCode(path: string): boolean {
  return [".ts", ".js", ".mjs", ".c"].includes(extname(path));
}

function tooLong(path: string, text: string, linesMax: number): readonly Finding[] {
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  return lines > linesMax ? [`${path}:${lines} ${lines} lines, at most ${linesMax}`] : [];
}

function badName(path: string): readonly Finding[] {
  const parts = path.split("/").map((part) => part.replace(/\..*$/, ""));
  // The folder test/types holds tests of types; a file named so would hold whatever has no other place.
  const empty = parts.find((part) => EMPTY_NAMES.has(part)) ?? parts.slice(-1).find((part) => part === "types");
  if (empty !== undefined) return [`${path}:1 "${empty}" does not name a concept`];
  return /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)+$/.test(basename(path)) ? [] : [`${path}:1 is not in kebab case`];
}
