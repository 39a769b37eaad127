import ts from "typescript";
import { describe, expect, it } from "vitest";
import { type Finding, findingAt, importsOf, isExcused, nodesOf, parse, parsedFiles } from "./tree.ts";

const NOT_RUN = /^(it|test|describe|suite)\b.*\.(skip|only|todo|skipIf|runIf)\b/;
const TIMERS: ReadonlySet<string> = new Set(["setTimeout", "setInterval", "globalThis.setTimeout", "Atomics.wait"]);

describe("tests", () => {
  it("all run", () => {
    expect(parsedFiles("test", "src/testkit").flatMap(notRun)).toEqual([]);
  });

  it("[T1] wait for a gate, never for time to pass", () => {
    expect(parsedFiles("test", "src/testkit").flatMap(timers)).toEqual([]);
  });

  it("are named when they break a rule", () => {
    const skipped = 'it.skip("a", f);\ndescribe.only("b", f);\nit.skipIf(x)("c", f);\nit.fails("d", f);\nit("e", f);';
    expect(notRun(parse("test/a.test.ts", skipped)).map((finding) => finding.split(" ")[0])).toEqual([
      "test/a.test.ts:1",
      "test/a.test.ts:2",
      "test/a.test.ts:3",
    ]);
    expect(timers(parse("test/a.test.ts", "await new Promise((r) => setTimeout(r, 5));"))).toHaveLength(1);
    expect(timers(parse("test/a.test.ts", 'import { setTimeout as s } from "node:timers/promises";'))).toHaveLength(1);
    expect(timers(parse("test/a.test.ts", "// tidy: bounds a hang, never waited for\nsetTimeout(f, 9);"))).toEqual([]);
  });
});

function notRun(file: ts.SourceFile): readonly Finding[] {
  const findings: Finding[] = [];
  for (const node of nodesOf(file)) {
    if (!ts.isPropertyAccessExpression(node) || !NOT_RUN.test(node.getText(file))) continue;
    if (/^(skip|only|todo|skipIf|runIf)$/.test(node.name.text))
      findings.push(findingAt(file, node, node.getText(file)));
  }
  return findings;
}

function timers(file: ts.SourceFile): readonly Finding[] {
  const imported = [...importsOf(file)].filter((name) => /^(node:)?timers(\/promises)?$/.test(name.text));
  const called = nodesOf(file).filter((node) => ts.isCallExpression(node) && TIMERS.has(node.expression.getText(file)));
  return [...imported, ...called]
    .filter((node) => !isExcused(file, node))
    .map((node) => findingAt(file, node, "waits for time to pass"));
}
