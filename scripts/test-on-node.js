/**
 * Runs the whole suite on other versions of Node: `npm run test:node -- 24`, or every supported one without arguments.
 * Each Node comes from npm, and each run works on a copy, so that no native module of the checkout is touched.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { npm } from "./npm.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const VERSIONS = ["22", "24", "26"];
/** From here on SQLite comes with Node, and compiling better-sqlite3 would be time spent on nothing. */
const NODE_WITH_SQLITE = 24;

function testOn(version, folder) {
  const node = fetchNode(version, join(folder, "node"));
  const copy = join(folder, "holdfast");
  copyCheckout(copy);
  if (Number.parseInt(version, 10) >= NODE_WITH_SQLITE && !npm(["ci", "--ignore-scripts"], { cwd: copy, node }))
    return false;
  return npm(["test"], { cwd: copy, node });
}

/** The npm packages that hold a Node binary are named for platform and processor, and bring the headers with it. */
function fetchNode(version, folder) {
  const platform = process.platform === "win32" ? "win" : process.platform;
  const name = `node-${platform}-${process.arch}`;
  mkdirSync(folder, { recursive: true });
  if (!npm(["install", "--no-save", "--prefix", folder, `${name}@${version}`], { cwd: folder })) {
    throw new Error(`npm has no ${name}@${version}`);
  }
  return join(folder, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node");
}

/** What git tracks or would track, as it is on disk now. */
function copyCheckout(target) {
  const list = execFileSync("git", ["ls-files", "-z", "-c", "-o", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  for (const path of list.split("\0")) {
    if (path === "" || !existsSync(join(ROOT, path))) continue;
    mkdirSync(dirname(join(target, path)), { recursive: true });
    cpSync(join(ROOT, path), join(target, path));
  }
  // Tests of the repository ask git what belongs to it.
  execFileSync("git", ["init", "-q"], { cwd: target });
}

const asked = process.argv.slice(2);
const results = [];
for (const version of asked.length > 0 ? asked : VERSIONS) {
  const folder = mkdtempSync(join(tmpdir(), `holdfast-node-${version}-`));
  try {
    console.log(`\n=== Node ${version}`);
    results.push([version, testOn(version, folder)]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
for (const [version, passed] of results) console.log(`Node ${version}: ${passed ? "passed" : "FAILED"}`);
if (results.some(([, passed]) => !passed)) process.exitCode = 1;
