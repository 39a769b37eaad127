import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Child } from "../doubles/child.ts";
import { type InstalledPackage, installPackage } from "../doubles/installed-package.ts";
import { writeModelFolder } from "../doubles/model-folder.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

interface Example {
  /** File and line of the block. */
  readonly place: string;
  readonly language: string;
  readonly code: string;
}

/** Programs that import the package, and commands of ours: what a reader would paste. */
const EXAMPLES: readonly Example[] = documents().flatMap(examplesOf).filter(isWhole);

/** Packages that an example needs beside Holdfast, and what stands for them. */
const PEERS: Readonly<Record<string, string>> = {
  "@ai-sdk/cohere": "ai-sdk",
  "@ai-sdk/openai": "ai-sdk",
  "@huggingface/transformers": "transformers",
};

let installed: InstalledPackage;
let folder: string;
let service: Child;
let serviceUrl: string;

beforeAll(async () => {
  const doubles = Object.entries(PEERS).map(([name, double]) => [name, join(ROOT, "test/doubles/packages", double)]);
  installed = installPackage(Object.fromEntries(doubles));
  folder = installed.folder;
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  mkdirSync(join(folder, "node_modules", ".bin"), { recursive: true });
  const shim = `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "dist/cli/main.js")}" "$@"\n`;
  writeFileSync(join(folder, "node_modules", ".bin", "holdfast"), shim, { mode: 0o755 });
  service = await Child.start("embedding-service");
  serviceUrl = String(await service.ask("address"));
});

afterAll(async () => {
  await service.kill();
  installed.remove();
});

describe("examples in the documents", () => {
  it("there are some to run", () => {
    expect(EXAMPLES.filter(({ language }) => language === "js").length).toBeGreaterThanOrEqual(3);
    expect(EXAMPLES.filter(({ language }) => language === "sh").length).toBeGreaterThanOrEqual(1);
  });

  it.each(EXAMPLES)("$place runs as it stands", { timeout: 180_000 }, (example) => {
    const workspace = mkdtempSync(join(folder, "run-"));
    copyFileSync(join(ROOT, "examples/conversation.jsonl"), join(workspace, "conversation.jsonl"));
    if (example.code.includes("./models/")) writeModelFolder(join(workspace, "models", "all-MiniLM-L6-v2"));
    run(example, workspace);
    // A program is also run again, on what it left behind.
    if (example.language === "js") run(example, workspace);
  });

  it("the first program finds what it was told", () => {
    const [first] = EXAMPLES;
    if (first === undefined) throw new Error("no example");
    const out = run(first, mkdtempSync(join(folder, "run-")));
    expect(out.split("\n")[0]).toMatch(/^\S+ I moved to Lisbon in May\.$/);
    // The program proper: twelve lines, blank ones aside.
    expect(first.code.split("\n").filter((line) => line.trim() !== "").length).toBeLessThanOrEqual(12);
  });
});

function documents(): readonly string[] {
  return [
    "README.md",
    ...readdirSync(join(ROOT, "docs"))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`),
  ];
}

function examplesOf(path: string): readonly Example[] {
  const text = readFileSync(join(ROOT, path), "utf8");
  return [...text.matchAll(/^```(js|sh)\n(.*?)^```$/gms)].map(({ index, 1: language = "", 2: code = "" }) => ({
    place: `${path}:${text.slice(0, index).split("\n").length}`,
    language,
    code,
  }));
}

function isWhole({ language, code }: Example): boolean {
  return language === "js" ? code.includes('from "holdfast"') : code.startsWith("holdfast ");
}

function run({ language, code }: Example, workspace: string): string {
  const script = join(workspace, language === "js" ? "example.mjs" : "example.sh");
  writeFileSync(script, code);
  const [command, ...args] = language === "js" ? [process.execPath, script] : ["sh", "-eu", script];
  const PATH = `${join(folder, "node_modules", ".bin")}${delimiter}${process.env.PATH ?? ""}`;
  return execFileSync(command ?? "", args, {
    cwd: workspace,
    env: { ...process.env, PATH, HOLDFAST_PATH: "", OPENAI_BASE_URL: serviceUrl, OPENAI_API_KEY: "sk-none" },
    encoding: "utf8",
  });
}
