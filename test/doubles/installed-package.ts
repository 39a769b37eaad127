import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface InstalledPackage {
  /** A folder whose programs import `holdfast` and the packages beside it. */
  readonly folder: string;
  /** Where the built files are. */
  readonly dist: URL;
  remove(): void;
}

/**
 * The built package as an install lays it, with optional peers beside it: `{ "@huggingface/transformers": <folder> }`. Its
 * own dependencies are those of the checkout; only the peers that are given are found.
 */
export function installPackage(peers: Readonly<Record<string, string>>): InstalledPackage {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-installed-"));
  const own = join(folder, "node_modules", "holdfast");
  mkdirSync(own, { recursive: true });
  cpSync(join(ROOT, "dist"), join(own, "dist"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(own, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(own, "node_modules"), "junction");
  for (const [name, path] of Object.entries(peers)) {
    const place = join(folder, "node_modules", name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(path, place, "junction");
  }
  return {
    folder,
    dist: new URL(`file://${own}/dist/`),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
