import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

/** The tests of one entry that take longer hang: that is no answer of theirs. */
const LIMIT_MS = 300_000;
const TEST_LIMIT_MS = 60_000;

/** Where the suites of the testkit run: on the backend in memory it takes a second, on the disk a few. */
const SUITES_RUN_IN = {
  default: "test/contract/embedded-memory.test.ts",
  disk: "test/contract/embedded-inline.test.ts",
};
const ON_DISK = /suites\/(concurrency|lifecycle|lives|persistence)\.ts$/;

export function vitestFileOf(file) {
  if (!file.startsWith("src/testkit/")) return file;
  return ON_DISK.test(file) ? SUITES_RUN_IN.disk : SUITES_RUN_IN.default;
}

/** Runs the tests of an entry in a copy whose guard is away: `{ isRed, says }`. */
export async function runEntry(entry, copy) {
  const putBack = copy.apply(entry);
  try {
    return entry.run === undefined ? await runRed(entry, copy.path) : await runProgram(entry.run, copy.path);
  } finally {
    putBack();
  }
}

async function runRed({ rule, red }, cwd) {
  const counts = await runTests({ rules: [rule], files: red, cwd });
  const isRed = red.every((file) => counts.get(vitestFileOf(file))?.failed > 0);
  const sums = red.map((file) => {
    const { failed, passed, error } = counts.get(vitestFileOf(file)) ?? { error: "did not run" };
    return `${file}: ${error ?? `${failed} of ${failed + passed} red`}`;
  });
  return { isRed, says: sums.join(", ") };
}

/** A program of the tree: red when it ends with another code than 0. */
export async function runProgram([program, ...options], cwd) {
  // What a lane leaves behind goes with the copy.
  const temporary = join(cwd, ".tmp");
  mkdirSync(temporary, { recursive: true });
  const { output, code } = await run([join(cwd, program), ...options], cwd, LIMIT_MS, { TMPDIR: temporary });
  const lines = output.trimEnd().split("\n");
  const told = lines.find((line) => /^(lost|ghost|wrong|damaged)/.test(line)) ?? lines.at(-1) ?? "";
  return { isRed: code !== 0 && code !== null, says: `ended with ${code}: ${told.slice(0, 200)}` };
}

/**
 * Runs the tests in `files` that cite one of `rules`: for each file how many failed and passed, or why it did not load.
 *
 * @returns a Map from the vitest file to `{ failed, passed, error? }`
 */
export async function runTests({ rules, files, cwd, limitMs = LIMIT_MS }) {
  const report = join(cwd, ".guards-report.json");
  const args = [
    join(cwd, "node_modules/vitest/vitest.mjs"),
    ...["run", ...new Set(files.map(vitestFileOf))],
    ...["--reporter=json", `--outputFile=${report}`, `--testTimeout=${TEST_LIMIT_MS}`],
    ...["-t", `\\[[^\\]]*\\b(${rules.join("|")})\\b[^\\]]*\\]`],
  ];
  rmSync(report, { force: true });
  const { output, timedOut } = await run(args, cwd, limitMs);
  const counts = new Map();
  if (timedOut) return counts;
  const results = readReport(report, output);
  if (results.length === 0) throw new Error(`vitest ran no file:\n${output.slice(-2_000)}`);
  for (const { name, status, message, assertionResults } of results) {
    const file = name.slice(name.indexOf("/test/") + 1);
    const [failed, passed] = ["failed", "passed"].map(
      (wanted) => assertionResults.filter((result) => result.status === wanted).length,
    );
    const error = status === "failed" && failed === 0 ? `did not load: ${message.slice(0, 300)}` : undefined;
    counts.set(file, { failed, passed, ...(error && { error }) });
  }
  return counts;
}

function readReport(path, output) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).testResults;
  } catch {
    throw new Error(`vitest wrote no report:\n${output.slice(-2_000)}`);
  }
}

function run(args, cwd, limitMs, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    let timedOut = false;
    const limit = setTimeout(() => {
      timedOut = true;
      child.kill("SIGKILL");
    }, limitMs);
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => (output += text));
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(limit);
      resolve({ output, timedOut, code });
    });
  });
}
