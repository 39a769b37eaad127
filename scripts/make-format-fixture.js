/**
 * Writes the folder of the present format that the tests open (`test/formats`). Run it whenever tables change before a
 * release; folders of released versions are never written again.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
const test = "test/unit/database/released-formats.test.ts";
const { status } = spawnSync(process.execPath, [vitest, "run", "--project", "unit", test], {
  cwd: ROOT,
  stdio: "inherit",
  env: { ...process.env, HOLDFAST_WRITE_FIXTURE: "1" },
});
process.exitCode = status ?? 1;
