/**
 * Takes the guard of each rule away, one at a time, in a copy of the tree, and sees the tests that cite it fail.
 *
 *   npm run guards -- [--only V3,E5] [--jobs 2] [--json]    run them; exit code 1 when tests stay green without a guard
 *   npm run guards -- --skip-baseline                       without first seeing that the tests are green as they are
 *   npm run guards -- --breaks                              the breaks that the fault lanes must find, instead
 *   npm run guards -- --check                               only see that every rule has an entry and every patch applies
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { problemsOf } from "../test/guards/check.js";
import { readEntries } from "../test/guards/entries.js";
import { runEntry, runProgram, runTests, vitestFileOf } from "../test/guards/run-entry.js";
import { TreeCopy } from "../test/guards/tree-copy.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** All the tests that are named, once: minutes, on a busy machine many. */
const BASELINE_LIMIT_MS = 3_600_000;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    jobs: { type: "string", default: String(availableParallelism()) },
    json: { type: "boolean", default: false },
    breaks: { type: "boolean", default: false },
    "skip-baseline": { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    folder: { type: "string", default: join(ROOT, "test/guards") },
  },
});

const entries = readEntries(values.folder);
const problems = problemsOf(entries, ROOT);
for (const problem of problems) console.error(problem);
if (values.check || problems.length > 0) process.exitCode = problems.length > 0 ? 1 : 0;
else process.exitCode = (await runAll(chosen())) ? 0 : 1;

function chosen() {
  const names = values.only?.split(",");
  const unknown = names?.filter((name) => !entries.some((entry) => isNamed(entry, name))) ?? [];
  if (unknown.length > 0) throw new Error(`There is no entry for ${unknown.join(", ")}.`);
  return entries.filter((entry) =>
    names === undefined ? (entry.run !== undefined) === values.breaks : names.some((name) => isNamed(entry, name)),
  );
}

function isNamed(entry, name) {
  return entry.rule === name || entry.name === name;
}

async function runAll(queue) {
  const began = performance.now();
  const jobs = Math.max(1, Math.min(Number(values.jobs), queue.length));
  const copies = Array.from({ length: jobs }, () => new TreeCopy(ROOT));
  const removeCopies = () => {
    for (const copy of copies) copy.remove();
  };
  process.once("SIGINT", () => {
    removeCopies();
    process.exit(130);
  });
  try {
    if (!(await isGreenWithGuards(queue, copies[0]))) return false;
    const results = [];
    const waiting = [...queue];
    await Promise.all(copies.map((copy) => drain(waiting, copy, results, queue.length)));
    results.sort((a, b) => queue.indexOf(a.entry) - queue.indexOf(b.entry));
    report(results, Math.round((performance.now() - began) / 1_000));
    return results.every(({ isRed }) => isRed);
  } finally {
    removeCopies();
  }
}

/** A test that is red anyway, or that does not run, would prove nothing below. */
async function isGreenWithGuards(queue, copy) {
  const withTests = queue.filter(({ run }) => run === undefined);
  if (values["skip-baseline"]) return true;
  for (const program of new Set(queue.flatMap(({ run }) => (run === undefined ? [] : [run.join(" ")])))) {
    console.error(`Running ${program} with every guard in place …`);
    const { isRed, says } = await runProgram(program.split(" "), copy.path);
    if (isRed) console.error(`It is not green: ${says}`);
    if (isRed) return false;
  }
  if (withTests.length === 0) return true;
  console.error("Running the tests with every guard in place …");
  const files = withTests.flatMap(({ red }) => red);
  const rules = [...new Set(withTests.map(({ rule }) => rule))];
  const counts = await runTests({ rules, files, cwd: copy.path, limitMs: BASELINE_LIMIT_MS });
  const bad = [...new Set(files.map(vitestFileOf))].filter((file) => {
    const { failed, passed } = counts.get(file) ?? { failed: 0, passed: 0 };
    return failed > 0 || passed === 0;
  });
  for (const file of bad) console.error(`${file} is not green with every guard in place.`);
  return bad.length === 0;
}

async function drain(waiting, copy, results, total) {
  for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
    const result = await runEntry(entry, copy);
    results.push({ entry, ...result });
    console.error(
      `${results.length}/${total} ${entry.name}: ${result.isRed ? "red" : "STAYED GREEN"} (${result.says})`,
    );
  }
}

function report(results, seconds) {
  const rows = results.map(({ entry: { name, why }, isRed, says }) => ({ name, why, isRed, says }));
  const green = rows.filter(({ isRed }) => !isRed).length;
  if (values.json) {
    console.log(JSON.stringify({ guards: rows, red: rows.length - green, green, seconds }));
    return;
  }
  const width = Math.max(...rows.map(({ name }) => name.length));
  for (const { name, why, isRed } of rows) console.log(`${isRed ? "red  " : "GREEN"}  ${name.padEnd(width)}  ${why}`);
  console.log(`${rows.length - green} red, ${green} stayed green, ${seconds} s`);
}
