/**
 * Kills processes that write one folder, again and again, and holds the folder against what they were told was kept.
 *
 *   npm run build && npm run torture -- [--minutes 5] [--rounds N] [--seed 1] [--path ./kept.holdfast]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SeededRandom } from "holdfast/testkit";
import { KillLane } from "../test/lanes/kill-lane.js";
import { KINDS } from "../test/lanes/operations.js";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    rounds: { type: "string" },
    seed: { type: "string", default: "1" },
    path: { type: "string" },
  },
});
const PROGRESS_EVERY = 20;
/** Fewer hits of a call or of a failpoint would prove nothing; asked for when the time was long enough. */
const HITS_MIN = 5;
const MINUTES_FOR_HITS = 5;

const minutes = Number(values.minutes);
const until = performance.now() + minutes * 60_000;
const rounds = values.rounds === undefined ? Number.POSITIVE_INFINITY : Number(values.rounds);
const folder = values.path === undefined ? mkdtempSync(join(tmpdir(), "holdfast-torture-")) : undefined;
const path = values.path ?? join(folder, "kept.holdfast");
const lane = new KillLane(path, new SeededRandom(Number(values.seed)));

let done = 0;
let held = true;
while (held && done < rounds && performance.now() < until) {
  held = await lane.round();
  done += 1;
  if (done % PROGRESS_EVERY === 0)
    console.error(`${done} rounds, ${lane.kills} kills, ${lane.acknowledged} acknowledged`);
}

for (const kind of KINDS) console.log(`${kind}: ${lane.byKind.get(kind) ?? 0}`);
for (const [name, count] of lane.byFailpoint) console.log(`killed at ${name}: ${count}`);
for (const fault of lane.faults.slice(0, 20)) console.error(fault.slice(0, 1_000));
const count = (kind) => lane.faults.filter((fault) => fault.startsWith(`${kind}:`)).length;
const [lost, ghosts] = [count("lost"), count("ghost")];
const wrong = lane.faults.length - lost - ghosts;
const rare = [...KINDS.map((kind) => lane.byKind.get(kind) ?? 0), ...lane.byFailpoint.values()].some(
  (hits) => hits < HITS_MIN,
);
const enough = values.rounds === undefined && minutes >= MINUTES_FOR_HITS;
if (!held || (rare && enough)) {
  process.exitCode = 1;
  if (!held) console.error(`The folder is left at ${path}`);
  else console.error(`A call or a failpoint was hit fewer than ${HITS_MIN} times.`);
}
if (held && folder !== undefined) rmSync(folder, { recursive: true, force: true });
console.log(`${lane.inFlight} of the kills came inside a call`);
console.log(`kills ${lane.kills}, acknowledged ${lane.acknowledged}, lost ${lost}, ghosts ${ghosts}, wrong ${wrong}`);
