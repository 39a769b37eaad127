import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import ts from "typescript";
import { applyPatch } from "./entries.js";

/** A copy of the tree in which guards are taken away, one at a time; the tree itself is never touched. */
export class TreeCopy {
  constructor(root) {
    this.path = mkdtempSync(join(tmpdir(), "holdfast-guards-"));
    const list = ["ls-files", "-z", "-c", "-o", "--exclude-standard"];
    const files = execFileSync("git", list, { cwd: root, encoding: "utf8" }).split("\0");
    for (const file of files) {
      const from = join(root, file);
      if (file === "" || file === "node_modules" || !existsSync(from)) continue;
      mkdirSync(join(this.path, dirname(file)), { recursive: true });
      cpSync(from, join(this.path, file));
    }
    cpSync(join(root, "dist"), join(this.path, "dist"), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(this.path, "node_modules"), "junction");
    // The tests of the tree itself list its files by git.
    execFileSync("git", ["init", "-q"], { cwd: this.path });
    this.settings = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile).config.compilerOptions;
  }

  /** Writes the patched files, and the built form of each; answers what brings back the old ones. */
  apply({ patches }) {
    const before = [];
    const write = (file, text) => {
      const path = join(this.path, file);
      before.push([path, readFileSync(path)]);
      writeFileSync(path, text);
    };
    for (const patch of patches) {
      const text = applyPatch(patch, readFileSync(join(this.path, patch.file), "utf8"));
      write(patch.file, text);
      const built = patch.file.replace(/^src\/(.*)\.ts$/, "dist/$1.js");
      if (built !== patch.file) write(built, this.#transpile(text, patch.file));
    }
    return () => {
      for (const [path, text] of before) writeFileSync(path, text);
    };
  }

  /** As the build writes it; types are not looked at, because what is left behind by a guard may not fit them. */
  #transpile(text, fileName) {
    const { options } = ts.convertCompilerOptionsFromJson(this.settings, this.path);
    const module = ts.ModuleKind.ESNext;
    const moduleResolution = ts.ModuleResolutionKind.Bundler;
    const compilerOptions = { ...options, module, moduleResolution, noEmit: false, declaration: false };
    return ts.transpileModule(text, { compilerOptions, fileName }).outputText;
  }

  remove() {
    rmSync(this.path, { recursive: true, force: true });
  }
}
