import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { SummaryReporter } from "./scripts/summary-reporter.ts";

/**
 * Tests outside `test/unit` import the package by its name and get what users get: the built files.
 * They are left to Node untransformed, because workers and child processes start from the same files.
 */
const builtPackage = [
  { find: /^holdfast\/testkit$/, replacement: fileURLToPath(new URL("dist/testkit/index.js", import.meta.url)) },
  { find: /^holdfast$/, replacement: fileURLToPath(new URL("dist/index.js", import.meta.url)) },
];

function project(name: string, folders: readonly string[], timeoutMs: number): TestProjectInlineConfiguration {
  return {
    resolve: { alias: builtPackage },
    test: {
      name,
      include: folders.map((folder) => `test/${folder}/**/*.test.ts`),
      pool: "forks",
      testTimeout: timeoutMs,
      hookTimeout: timeoutMs,
      server: { deps: { external: [/\/dist\//, /node_modules/] } },
    },
  };
}

/** These read the same sources: in one process the compiler is loaded and each file parsed once. */
const tidy: TestProjectInlineConfiguration = {
  test: {
    name: "tidy",
    include: ["test/tidy/**/*.test.ts"],
    isolate: false,
    fileParallelism: false,
    testTimeout: 120_000,
  },
};

export default defineConfig({
  test: {
    projects: [
      project("unit", ["unit", "types"], 90_000),
      tidy,
      project("contract", ["contract"], 240_000),
      project("crash", ["crash"], 300_000),
      project("services", ["services"], 300_000),
    ],
    exclude: [...configDefaults.exclude, "**/*.holdfast/**"],
    passWithNoTests: true,
    allowOnly: false,
    teardownTimeout: 20_000,
    reporters: ["default", new SummaryReporter()],
  },
});
