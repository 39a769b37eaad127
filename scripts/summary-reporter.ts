import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { SerializedError } from "vitest";
import type { Reporter, TestModule } from "vitest/node";

interface Counts {
  passed: number;
  failed: number;
  notRun: number;
}

interface Summary extends Counts {
  readonly projects: Map<string, Counts>;
  readonly backends: Map<string, Counts>;
}

/** A suite or test that runs on a real backend says so in its name: `describe("[backend embedded] …")`. */
const BACKEND_TAG = /\[backend ([a-z0-9_-]+)\]/;

/**
 * Counts tests by project and by backend, prints them after vitest's own report and ends with
 * `N passed, N failed`. A backend named in HOLDFAST_REQUIRED_BACKENDS that ran no test fails the run:
 * tests that did not run prove nothing. HOLDFAST_TEST_SUMMARY names a file for the same counts as JSON.
 */
export class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const summary = summarise(modules, unhandledErrors);
    for (const backend of missingBackends(summary)) {
      summary.failed += 1;
      process.exitCode = 1;
      console.log(`Required backend "${backend}" passed no test: start it, or change HOLDFAST_REQUIRED_BACKENDS.`);
    }
    print(summary);
    const path = process.env.HOLDFAST_TEST_SUMMARY;
    if (path !== undefined && path !== "") {
      mkdirSync(dirname(path), { recursive: true });
      const { projects, backends } = summary;
      const plain = { ...summary, projects: Object.fromEntries(projects), backends: Object.fromEntries(backends) };
      writeFileSync(path, `${JSON.stringify(plain, null, 2)}\n`);
    }
  }
}

function summarise(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): Summary {
  const summary = {
    passed: 0,
    failed: unhandledErrors.length,
    notRun: 0,
    projects: new Map<string, Counts>(),
    backends: new Map<string, Counts>(),
  };
  for (const module of modules) {
    const project = countsOf(summary.projects, module.project.name);
    const broken = brokenParts(module);
    summary.failed += broken;
    project.failed += broken;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      const column = state === "passed" || state === "failed" ? state : "notRun";
      summary[column] += 1;
      project[column] += 1;
      const backend = BACKEND_TAG.exec(test.fullName)?.[1];
      if (backend !== undefined) countsOf(summary.backends, backend)[column] += 1;
    }
  }
  return summary;
}

/** A file that cannot be loaded has no tests to count, and a failing hook of a suite marks none of them. */
function brokenParts(module: TestModule): number {
  let broken = module.errors().length;
  for (const suite of module.children.allSuites()) broken += suite.errors().length;
  return broken;
}

function countsOf(table: Map<string, Counts>, name: string): Counts {
  const counts = table.get(name) ?? { passed: 0, failed: 0, notRun: 0 };
  table.set(name, counts);
  return counts;
}

function missingBackends(summary: Summary): readonly string[] {
  const required = (process.env.HOLDFAST_REQUIRED_BACKENDS ?? "").split(",").filter((name) => name !== "");
  return required.filter((name) => (summary.backends.get(name)?.passed ?? 0) === 0);
}

function print(summary: Summary): void {
  for (const [name, counts] of summary.projects) console.log(`project ${name}: ${lineOf(counts)}`);
  for (const [name, counts] of summary.backends) console.log(`backend ${name}: ${lineOf(counts)}`);
  if (summary.notRun > 0) console.log(`${summary.notRun} not run`);
  console.log(`${summary.passed} passed, ${summary.failed} failed`);
}

function lineOf({ passed, failed, notRun }: Counts): string {
  return `${passed} passed, ${failed} failed${notRun > 0 ? `, ${notRun} not run` : ""}`;
}
