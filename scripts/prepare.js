/**
 * Makes a checkout runnable: checks Node, installs the packages of the lock file, makes sure that a
 * SQLite driver loads, and builds `dist`. `npm start` and `npm test` run it first; when nothing changed
 * it only compares, well under a second. Plain Node: it runs before any package is there.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, isBuilt } from "./build.js";
import { npm } from "./npm.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const OLDEST_NODE = [20, 19];
/** From this major on `node:sqlite` is used and nothing needs to be compiled. */
const NODE_WITH_SQLITE = 24;

const [major, minor] = process.versions.node.split(".").map(Number);

function prepare() {
  checkNode();
  if (!isInstalled()) install();
  if (!driverLoads()) rebuildDriver();
  if (!isBuilt()) {
    console.log("Building dist …");
    if (!build()) stop("The build failed; the messages above say where.");
  }
}

function checkNode() {
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  stop(`Holdfast needs Node ${OLDEST_NODE.join(".")} or newer; this is Node ${process.versions.node}.`);
}

/**
 * Compares what npm recorded as installed with the lock file, package by package. Optional packages may be
 * absent: those of other platforms always are, and whether the SQLite driver is needed is asked separately.
 */
function isInstalled() {
  const recordPath = join(ROOT, "node_modules", ".package-lock.json");
  if (!existsSync(recordPath)) return false;
  const installed = packagesOf(recordPath);
  return Object.entries(packagesOf(join(ROOT, "package-lock.json"))).every(([path, wanted]) => {
    if (path === "") return true;
    const found = installed[path];
    if (found === undefined) return wanted.optional === true;
    return found.version === wanted.version && existsSync(join(ROOT, path, "package.json"));
  });
}

function packagesOf(lockPath) {
  return JSON.parse(readFileSync(lockPath, "utf8")).packages ?? {};
}

/** Packages that are there are kept, so that a changed lock file costs only what changed; else all is installed anew. */
function install() {
  console.log("Installing packages (better-sqlite3 compiles for a minute or two where no ready file exists) …");
  if (existsSync(join(ROOT, "node_modules")) && npmAll("install", "--no-save") && isInstalled()) return;
  if (npmAll("ci")) return;
  stop("npm ci failed; the messages above say why. It needs the npm registry, or a filled cache and `--offline`.");
}

/** Development packages are needed here whatever NODE_ENV says. */
function npmAll(...command) {
  return npm([...command, "--include=dev", "--include=optional"], { cwd: ROOT });
}

/** In a process of its own: a native module of another Node can crash instead of raising. */
function driverLoads() {
  if (major >= NODE_WITH_SQLITE) return true;
  const code = 'new (require("better-sqlite3"))(":memory:").close()';
  return spawnSync(process.execPath, ["-e", code], { cwd: ROOT, stdio: "ignore" }).status === 0;
}

function rebuildDriver() {
  console.log(`No SQLite driver loads in Node ${process.versions.node}: installing better-sqlite3 again …`);
  const present = existsSync(join(ROOT, "node_modules", "better-sqlite3"));
  // Without its folder npm has to fetch it first: npm leaves an optional package that failed to build away.
  const worked = present ? npm(["rebuild", "better-sqlite3"], { cwd: ROOT }) : npmAll("ci");
  if (worked && driverLoads()) return;
  stop(
    [
      `Node ${process.versions.node} needs the package better-sqlite3, and it could not be built here. Either`,
      `  - use Node ${NODE_WITH_SQLITE} or newer, which brings SQLite and compiles nothing, or`,
      "  - install the build tools and run this again:",
      "      Debian, Ubuntu: sudo apt-get install -y python3 make g++",
      "      macOS: xcode-select --install",
      "      Windows: the 'Desktop development with C++' workload of the Visual Studio Build Tools",
    ].join("\n"),
  );
}

function stop(message) {
  console.error(message);
  process.exit(1);
}

prepare();
