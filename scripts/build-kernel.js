// Compiles kernel.c to WebAssembly and writes the bytes into kernel-bytes.ts.
//   node scripts/build-kernel.js           builds and writes
//   node scripts/build-kernel.js --check   builds and fails when the written bytes differ
// Users never run this: the bytes are committed. Needs clang and lld with the wasm32 target;
// CLANG names another compiler than clang-14. Equal bytes need the same major version.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../src/backends/embedded/kernel/", import.meta.url));
const SOURCE = join(FOLDER, "kernel.c");
const OUTPUT = join(FOLDER, "kernel-bytes.ts");
const EXPORTS = ["estimate_rows", "score_rows", "score_slots", "squared_norms", "sum_region"];
const FLAGS = [
  "--target=wasm32",
  "-std=c11",
  "-O3",
  "-msimd128",
  "-matomics",
  "-mbulk-memory",
  "-ffp-contract=off",
  "-ffreestanding",
  "-nostdlib",
  "-Wall",
  "-Wextra",
  "-Werror",
  // Loop strength reduction turns constant offsets into additions, one for each load.
  "-mllvm",
  "-disable-lsr",
  "-Wl,--no-entry",
  "-Wl,--import-memory",
  "-Wl,--shared-memory",
  "-Wl,--max-memory=4294901760",
  "-Wl,--strip-all",
];

const compiler = findCompiler();
const bytes = compile(compiler);
assertSelfContained(bytes);
const text = render(bytes);
if (process.argv.includes("--check")) {
  if (readFileSync(OUTPUT, "utf8") !== text)
    fail(`kernel-bytes.ts is not what ${compiler} makes of kernel.c: run "node scripts/build-kernel.js".`);
  console.log(`kernel-bytes.ts is up to date (${bytes.length} bytes).`);
} else {
  writeFileSync(OUTPUT, text);
  console.log(`wrote kernel-bytes.ts (${bytes.length} bytes).`);
}

function findCompiler() {
  const candidates = process.env.CLANG ? [process.env.CLANG] : ["clang-14", "clang"];
  for (const candidate of candidates) {
    try {
      const targets = execFileSync(candidate, ["--print-targets"], { encoding: "utf8" });
      if (targets.includes("wasm32")) return candidate;
    } catch {
      // Not installed under this name.
    }
  }
  return fail(
    'No clang with the wasm32 target. On Debian 12: "apt-get install clang-14 lld-14"; elsewhere name one in CLANG.',
  );
}

function compile(clang) {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-kernel-"));
  try {
    const file = join(folder, "kernel.wasm");
    execFileSync(clang, [...FLAGS, "-o", file, SOURCE], { stdio: ["ignore", "inherit", "inherit"] });
    const assembly = execFileSync(
      clang,
      [...FLAGS.filter((flag) => !flag.startsWith("-Wl")), "-S", "-o", "-", SOURCE],
      { encoding: "utf8" },
    );
    // The linker always makes the stack pointer; what counts is that no function uses it.
    if (assembly.includes("__stack_pointer"))
      fail("A function keeps something on the stack in memory; see the rules in kernel.c.");
    return readFileSync(file);
  } catch (error) {
    return fail(`${clang} failed (${error.message}). A missing wasm-ld comes with the package lld-14.`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One shared memory in, the named functions out, and no data that a start would write into the memory. */
function assertSelfContained(module) {
  const compiled = new WebAssembly.Module(module);
  const imports = WebAssembly.Module.imports(compiled).map(({ module: from, name, kind }) => `${from}.${name}:${kind}`);
  const exports = WebAssembly.Module.exports(compiled).map(({ name }) => name);
  if (imports.join() !== "env.memory:memory") fail(`The module imports ${imports.join()}.`);
  if (exports.sort().join() !== EXPORTS.join()) fail(`The module exports ${exports.join()}, not ${EXPORTS.join()}.`);
  const forbidden = new Map([
    [8, "a start function"],
    [11, "data"],
  ]);
  for (const section of sectionsOf(module)) {
    if (forbidden.has(section))
      fail(`The module has ${forbidden.get(section)}; the kernel must need no memory of its own.`);
  }
}

function* sectionsOf(module) {
  let at = 8;
  while (at < module.length) {
    yield module[at++];
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = module[at++];
      size += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    at += size;
  }
}

function render(module) {
  const sha256 = createHash("sha256").update(readFileSync(SOURCE)).digest("hex");
  return [
    "// Written by scripts/build-kernel.js from kernel.c; do not edit.",
    "",
    "/** sha256 of the kernel.c that the bytes were made from. */",
    `export const KERNEL_SOURCE_SHA256: string = "${sha256}";`,
    "",
    "/** The WebAssembly module, base64. */",
    "export const KERNEL_BYTES: string =",
    `  "${module.toString("base64")}";`,
    "",
  ].join("\n");
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
