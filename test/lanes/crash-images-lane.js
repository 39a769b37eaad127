/**
 * Builds the images that a power cut could have left at every step of a recorded run, opens each and holds it against what
 * had been acknowledged by then; and looks whether every acknowledgement had its sync.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { verifyFolder } from "holdfast";
import { SeededRandom } from "holdfast/testkit";
import { modelOf } from "./acknowledgements.js";
import { DiskState } from "./crash-image.js";
import { openFolder } from "./folder.js";
import { applyOperation, copyOf } from "./model.js";
import { compare, observe, searchFaults } from "./observe.js";
import { ACTOR, toldBy } from "./recorded-run.js";

const SEARCHED = 0.2;
/** Share of the images that are verified too. */
const VERIFIED = 0.1;
const LOG = "holdfast.db-wal";

/** What becomes of the steps that no sync has reached. */
export const VARIANTS = {
  lost: () => ({ keeps: () => false, keepsEntry: () => false }),
  kept: () => ({ keeps: () => true, keepsEntry: () => true }),
  "last torn": (random) => ({
    keeps: (_step, last) => (last ? "torn" : true),
    keepsEntry: () => true,
    chooses: () => random.chance(0.5),
  }),
  "any part": (random) => ({ keeps: () => random.chance(0.5), keepsEntry: () => random.chance(0.5) }),
  "any sectors": (random) => ({
    keeps: () => random.pick([false, true, "torn"]),
    keepsEntry: () => random.chance(0.8),
    chooses: () => random.chance(0.5),
  }),
};

/**
 * Every step is a cut; of each the variants that `variantsOf(cut)` names are built. Ends early when `until` says so, or
 * with the first fault.
 */
export async function checkImages(steps, { place, seed, variantsOf, until = () => false }) {
  const random = new SeededRandom(seed);
  const disk = new DiskState();
  const counts = { cuts: 0, images: 0, byStep: {}, byVariant: {} };
  const faults = [];
  let told = "";
  for (const step of steps) {
    if (faults.length > 0 || until()) break;
    const line = toldBy(step);
    if (line === undefined) disk.apply(step);
    else told += line;
    if (line === "") continue;
    const name = `${basename(step.path)} ${step.kind}`;
    counts.byStep[name] = (counts.byStep[name] ?? 0) + 1;
    for (const variant of variantsOf(counts.cuts)) {
      const found = await checkImage(disk.image(VARIANTS[variant](random)), { place, told, random });
      counts.images += 1;
      counts.byVariant[variant] = (counts.byVariant[variant] ?? 0) + 1;
      faults.push(...found.map((fault) => `step ${counts.cuts} (${name}), ${variant}: ${fault}`));
    }
    counts.cuts += 1;
  }
  return { counts, faults };
}

/** Counts syncs by file, and acknowledged calls that wrote to the log without a sync of it behind their first write. */
export function countSyncs(steps) {
  const counts = { acknowledged: 0, syncs: {} };
  const faults = [];
  let unsynced = false;
  let kind;
  for (const step of steps) {
    const line = toldBy(step);
    const file = basename(step.path);
    if (line === undefined && step.kind === "sync") {
      counts.syncs[file] = (counts.syncs[file] ?? 0) + 1;
      if (file === LOG) unsynced = false;
    }
    if (file === LOG && step.kind === "write") unsynced = true;
    if (line === undefined || line === "") continue;
    const { begun, answered } = JSON.parse(line);
    if (begun !== undefined) kind = begun.kind;
    if (answered === undefined) continue;
    counts.acknowledged += 1;
    if (unsynced) faults.push(`${kind} was answered while what it wrote was not synced`);
  }
  return { counts, faults };
}

async function checkImage(image, { place, told, random }) {
  const root = join(place, "image");
  const path = join(root, "kept.holdfast");
  rmSync(root, { recursive: true, force: true });
  for (const [file, content] of image) {
    const target = join(root, basename(dirname(file)), basename(file));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
  }
  mkdirSync(root, { recursive: true });
  try {
    const folder = await openFolder(path, { threads: "inline" });
    const faults = await faultsOf(folder, modelOf(told), random).finally(() => folder.close());
    if (!random.chance(VERIFIED)) return faults;
    const { ok, findings } = await verifyFolder(path, { threads: "inline" });
    return ok ? faults : [...faults, `verify: ${JSON.stringify(findings.slice(0, 3))}`];
  } catch (error) {
    return [`${error.code}: ${error.message}`];
  }
}

async function faultsOf(folder, { model: before, under }, random) {
  const after = under && copyOf(before);
  if (after !== undefined) applyOperation(after, under);
  const { model, faults } = await observe(folder, ACTOR);
  const unequal = compare(model, before, after, under).map((fault) => `${fault.kind}: ${JSON.stringify(fault)}`);
  return [...unequal, ...faults, ...(await searchFaults(folder, model, random, SEARCHED))];
}
