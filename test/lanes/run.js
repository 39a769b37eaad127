/**
 * One lane by itself. Prints progress to stderr and ends with one line of JSON: `{ lane, counts, faults }`.
 *
 *   node test/lanes/run.js kill|images|damage --minutes 5 [--rounds N] [--seed 1] [--drop-syncs]
 *
 * A round is three kills of each process, 20 recorded calls with all their images, or each damage once.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { SeededRandom } from "holdfast/testkit";
import { modelOf } from "./acknowledgements.js";
import { DiskState } from "./crash-image.js";
import { checkImages, countSyncs, VARIANTS } from "./crash-images-lane.js";
import { DAMAGES, damageOnce } from "./damage-lane.js";
import { KillLane } from "./kill-lane.js";
import { recordRun, toldBy } from "./recorded-run.js";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "5" },
    rounds: { type: "string", default: "1000000" },
    seed: { type: "string", default: "1" },
    "drop-syncs": { type: "boolean", default: false },
  },
});
const [lane] = positionals;
const seed = Number(values.seed);
const rounds = Number(values.rounds);
const endsAt = performance.now() + Number(values.minutes) * 60_000;
const isOver = () => performance.now() >= endsAt;
const place = mkdtempSync(join(tmpdir(), `holdfast-${lane}-`));

const LANES = { kill, images, damage };
const { counts, faults } = await LANES[lane]();
if (faults.length === 0) rmSync(place, { recursive: true, force: true });
else console.error(`${lane}: the folder is left at ${place}`);
console.log(JSON.stringify({ lane, counts, faults: faults.slice(0, 50).map((fault) => fault.slice(0, 1_000)) }));

async function kill() {
  const lane = new KillLane(join(place, "kept.holdfast"), new SeededRandom(seed));
  for (let done = 0; done < rounds && !isOver(); done += 1) {
    if (!(await lane.round())) break;
    console.error(`kill: ${lane.kills} kills, ${lane.acknowledged} acknowledged`);
  }
  const { kills, inFlight, acknowledged, faults } = lane;
  const counts = {
    kills,
    inFlight,
    acknowledged,
    byKind: Object.fromEntries(lane.byKind),
    byFailpoint: Object.fromEntries(lane.byFailpoint),
  };
  return { counts, faults };
}

async function images() {
  const total = { cuts: 0, images: 0, acknowledged: 0, byStep: {}, byVariant: {}, syncs: {} };
  const names = Object.keys(VARIANTS);
  for (let done = 0; done < rounds && !isOver(); done += 1) {
    const steps = record(done, { sessions: 2, calls: 10 });
    const synced = countSyncs(steps);
    const variantsOf = (cut) => [names[(cut + done) % names.length]];
    const { counts, faults } = await checkImages(steps, { place, seed: seed + done, variantsOf, until: isOver });
    add(total, counts);
    add(total, synced.counts);
    if (faults.length + synced.faults.length > 0) return { counts: total, faults: [...synced.faults, ...faults] };
    console.error(`images: ${total.images} images of ${total.cuts} steps`);
  }
  return { counts: total, faults: [] };
}

async function damage() {
  const counts = { damages: 0, byOutcome: {} };
  const random = new SeededRandom(seed);
  // One folder as a killed process leaves it, with its log, and one that was closed.
  const states = foldersOf(record(0, { sessions: 2, calls: 60 }));
  for (let done = 0; done < rounds && !isOver(); done += 1) {
    for (const { files, models } of states)
      for (const name of DAMAGES) {
        const result = await damageOnce(name, { files, models, root: place, random });
        if (result === undefined) continue;
        counts.damages += 1;
        const key = `${name}: ${result.outcome}`;
        counts.byOutcome[key] = (counts.byOutcome[key] ?? 0) + 1;
        if (result.faults.length > 0) return { counts, faults: result.faults };
      }
    console.error(`damage: ${counts.damages} damages`);
  }
  return { counts, faults: [] };
}

function record(round, run) {
  const within = mkdtempSync(join(place, "run-"));
  const dropSyncs = values["drop-syncs"];
  try {
    return recordRun(within, { ...run, seed: seed * 1_000 + round * 2, dropSyncs });
  } finally {
    rmSync(within, { recursive: true, force: true });
  }
}

/** The folder at its last acknowledged call, and behind its close; each with the states that were acknowledged. */
function foldersOf(steps) {
  const disk = new DiskState();
  const states = [];
  const models = [];
  let told = "";
  const contents = () => new Map([...disk.image(VARIANTS.kept())].map(([path, content]) => [basename(path), content]));
  let last;
  for (const step of steps) {
    const line = toldBy(step);
    if (line === undefined) disk.apply(step);
    if (!line) continue;
    told += line;
    if (!line.includes('"answered"')) continue;
    models.push(modelOf(told).model);
    last = contents();
  }
  states.push({ files: last, models: [...models] }, { files: contents(), models: [...models] });
  return states;
}

function add(total, counts) {
  for (const [key, value] of Object.entries(counts))
    if (typeof value === "number") total[key] = (total[key] ?? 0) + value;
    else {
      total[key] ??= {};
      add(total[key], value);
    }
}
