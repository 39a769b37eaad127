/**
 * Packs the package as `npm publish` would, installs it in an empty folder and uses it as a stranger would:
 * a program in plain JavaScript, the command line, and a strict type check of the declarations.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { environmentFor, npm } from "./npm.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const EXPECTED = ["package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts", "dist/cli/main.js"];
const UNEXPECTED = /^(src|test|scripts|bench|node_modules|\.)|\.test\.|tsbuildinfo/;

function check(folder) {
  const tarball = pack(folder);
  installFrom(tarball, folder);
  run("the program", folder, ["program.js"]);
  const { bin, version } = JSON.parse(readFileSync(join(folder, "node_modules/holdfast/package.json"), "utf8"));
  run(`the command line (${version})`, folder, [join("node_modules/holdfast", bin.holdfast), "--version"]);
  typeCheck(folder, "with the types of Node", { lib: ["ES2022"], types: ["node"] });
  typeCheck(folder, "with the types of a browser", { lib: ["ES2022", "DOM"], types: [] });
}

function pack(folder) {
  const packed = npm(["pack", "--json", "--pack-destination", folder], { cwd: ROOT, quiet: true });
  // What the build prints on its way comes first.
  const [{ filename, files, size }] = JSON.parse(packed.slice(packed.indexOf("[\n")));
  const paths = files.map((file) => file.path);
  const missing = EXPECTED.filter((path) => !paths.includes(path));
  const surplus = paths.filter((path) => UNEXPECTED.test(path));
  if (missing.length > 0) fail(`the package lacks ${missing.join(", ")}`);
  if (surplus.length > 0) fail(`the package holds ${surplus.join(", ")}`);
  console.log(`ok   ${paths.length} files, ${Math.round(size / 1024)} KiB packed`);
  return join(folder, filename);
}

function installFrom(tarball, folder) {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  // Install scripts stay off: the one that matters compiles for more than a minute and has run for the checkout.
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev", tarball];
  if (!npm(args, { cwd: folder })) fail("the package cannot be installed");
  const driver = "node_modules/better-sqlite3/build";
  if (existsSync(join(ROOT, driver))) cpSync(join(ROOT, driver), join(folder, driver), { recursive: true });
  const programs = join(ROOT, "scripts", "consumer");
  for (const name of readdirSync(programs)) cpSync(join(programs, name), join(folder, name));
}

function typeCheck(folder, what, { lib, types }) {
  const options = {
    target: "ES2022",
    module: "NodeNext",
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
  };
  const compilerOptions = { ...options, skipLibCheck: false, lib, types };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["program.ts"] }));
  const typesFolder = join(folder, "node_modules", "@types", "node");
  rmSync(typesFolder, { recursive: true, force: true });
  if (types.includes("node")) {
    mkdirSync(join(folder, "node_modules", "@types"), { recursive: true });
    cpSync(join(ROOT, "node_modules/@types/node"), typesFolder, { recursive: true });
    cpSync(join(ROOT, "node_modules/undici-types"), join(folder, "node_modules/undici-types"), { recursive: true });
  }
  run(`types ${what}`, folder, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "."]);
}

function run(what, cwd, args) {
  const options = {
    cwd,
    env: environmentFor(process.execPath),
    stdio: ["ignore", "inherit", "inherit"],
    timeout: 120_000,
  };
  if (spawnSync(process.execPath, args, options).status !== 0) fail(`${what} failed`);
  console.log(`ok   ${what}`);
}

function fail(message) {
  throw new Error(`check-package: ${message}`);
}

const folder = mkdtempSync(join(tmpdir(), "holdfast-consumer-"));
try {
  check(folder);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
