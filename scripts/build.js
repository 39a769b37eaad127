/**
 * Builds `dist` with the TypeScript compiler. The compiler writes beside `dist`; only files that changed are then
 * moved in, each by one rename, and files whose source is gone are removed: a process that runs from `dist`
 * meanwhile never reads half a file.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = join(ROOT, "dist");
/** Outside `dist`, so that it is not packed. */
const STAMP = join(ROOT, "node_modules", ".cache", "holdfast-build");

/** True when `dist` was built from exactly the sources and settings that are there now. */
export function isBuilt() {
  return existsSync(join(DIST, "index.js")) && existsSync(STAMP) && readFileSync(STAMP, "utf8") === digestOfSources();
}

/** Answers whether the build succeeded; a failed one leaves `dist` as it was. */
export function build() {
  const digest = digestOfSources();
  // At the same depth as `dist`, because source maps hold relative paths.
  const fresh = join(ROOT, `.dist-${process.pid}`);
  try {
    const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    const args = [compiler, "-p", "tsconfig.build.json", "--outDir", fresh];
    if (spawnSync(process.execPath, args, { cwd: ROOT, stdio: "inherit" }).status !== 0) return false;
    replaceDist(fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  mkdirSync(dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, digest);
  return true;
}

function replaceDist(fresh) {
  const built = filesUnder(fresh).map((path) => relative(fresh, path));
  for (const name of built) {
    const [from, to] = [join(fresh, name), join(DIST, name)];
    if (existsSync(to) && readFileSync(to).equals(readFileSync(from))) continue;
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  }
  const kept = new Set(built);
  for (const path of filesUnder(DIST)) if (!kept.has(relative(DIST, path))) rmSync(path);
}

function digestOfSources() {
  const hash = createHash("sha256");
  const settings = ["tsconfig.json", "tsconfig.build.json", "package-lock.json"].map((name) => join(ROOT, name));
  for (const path of [...settings, ...filesUnder(join(ROOT, "src"))]) {
    hash
      .update(`${relative(ROOT, path)}\0`)
      .update(readFileSync(path))
      .update("\0");
  }
  return hash.digest("hex");
}

function filesUnder(folder) {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !build()) process.exitCode = 1;
