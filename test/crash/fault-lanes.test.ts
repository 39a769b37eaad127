import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, it } from "vitest";

const LANE = fileURLToPath(new URL("../lanes/run.js", import.meta.url));
const VARIANTS = ["lost", "kept", "last torn", "any part", "any sectors"];

interface Report {
  readonly counts: Readonly<Record<string, unknown>>;
  readonly faults: readonly string[];
}

describe("[backend embedded] a folder after the worst moments", () => {
  it("[V13, V14, Q8, E2, E5, O5] processes killed at random moments and at failpoints: what was acknowledged is there, the rest whole or not at all, and no row answers for another", async () => {
    const { counts, faults } = await runLane("kill", ["--rounds", "3"]);
    assert.deepEqual(faults, []);
    assert.equal(counts.kills, 18);
    assert.ok(Number(counts.inFlight) > 0 && Number(counts.acknowledged) > 500, JSON.stringify(counts));
  });

  it("[V13, V14, E1, E2, E10, E13] every image that a power cut could leave, at every step: what was acknowledged is there", async () => {
    const { counts, faults } = await runLane("images", ["--rounds", "1"]);
    assert.deepEqual(faults, []);
    assert.equal(counts.images, counts.cuts);
    const byVariant = counts.byVariant as Readonly<Record<string, number>>;
    for (const variant of VARIANTS) assert.ok(Number(byVariant[variant]) > 50, JSON.stringify(byVariant));
  });

  it("[V13, E10] a folder whose syncs do not reach the disk turns the lane red: it would see a sync that is missing", async () => {
    const { faults } = await runLane("images", ["--rounds", "1", "--drop-syncs"]);
    assert.ok(faults.some((fault) => /was answered while what it wrote was not synced/.test(fault)));
    assert.ok(faults.some((fault) => /^step \d+ /.test(fault)));
  });

  it("[E6, E11, O1] a damaged file is refused, is told, or every answer stays exact; what is refused as foreign is left as it is", async () => {
    const { counts, faults } = await runLane("damage", ["--rounds", "2"]);
    assert.deepEqual(faults, []);
    assert.ok(Number(counts.damages) >= 40, JSON.stringify(counts));
  });
});

function runLane(lane: string, options: readonly string[]): Promise<Report> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [LANE, lane, ...options], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let progress = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      progress += text;
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(JSON.parse(output) as Report);
      else reject(new Error(`The ${lane} lane ended with ${code}.\n${progress}`));
    });
  });
}
