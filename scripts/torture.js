/**
 * Runs the fault lanes side by side: kills, crash images with their syncs, damaged files.
 *
 *   npm run build && npm run torture -- [--minutes 5] [--seed 1] [--lanes kill,images,damage] [--rounds N]
 *
 * Prints what each lane did and ends with one line of verdict. Exits with 1 when something was lost, wrong or came back,
 * and, in a whole run of five minutes or more, when a call or a failpoint was hit fewer than five times.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { FAILPOINTS } from "../test/lanes/failpoints.js";
import { KINDS } from "../test/lanes/operations.js";

const LANE = fileURLToPath(new URL("../test/lanes/run.js", import.meta.url));
const HITS_MIN = 5;
const MINUTES_FOR_HITS = 5;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
    lanes: { type: "string", default: "kill,images,damage" },
    rounds: { type: "string" },
  },
});
const reports = await Promise.all(values.lanes.split(",").map(runLane));
for (const { lane, counts } of reports) {
  console.log(`\n${lane}`);
  print(counts, "  ");
}
const faults = reports.flatMap(({ faults: found }) => found);
for (const fault of faults.slice(0, 20)) console.error(fault);

const kill = reports.find(({ lane }) => lane === "kill")?.counts;
const rare = kill === undefined ? [] : rarelyHit(kill);
if (rare.length > 0) console.log(`\nhit fewer than ${HITS_MIN} times: ${rare.join(", ")}`);
const whole = values.rounds === undefined && Number(values.minutes) >= MINUTES_FOR_HITS;
if (faults.length > 0 || (whole && rare.length > 0)) process.exitCode = 1;

const count = (kind) => faults.filter((fault) => fault.includes(`${kind}: {`)).length;
const [lost, ghosts] = [count("lost"), count("ghost")];
console.log(
  `\nkills ${kill?.kills ?? 0}, acknowledged ${kill?.acknowledged ?? 0}, ` +
    `lost ${lost}, ghosts ${ghosts}, wrong ${faults.length - lost - ghosts}`,
);

function runLane(lane) {
  const options = ["--minutes", values.minutes, "--seed", values.seed];
  if (values.rounds !== undefined) options.push("--rounds", values.rounds);
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [LANE, lane, ...options], { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text) => {
      output += text;
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      const ended = { lane, counts: {}, faults: [`The ${lane} lane ended by itself with ${code ?? signal}.`] };
      resolve(code === 0 ? JSON.parse(output.trimEnd().split("\n").at(-1)) : ended);
    });
  });
}

function rarelyHit({ byKind, byFailpoint }) {
  return [
    ...KINDS.filter((kind) => (byKind[kind] ?? 0) < HITS_MIN),
    ...Object.keys(FAILPOINTS).filter((name) => byFailpoint[name] < HITS_MIN),
  ];
}

function print(counts, indent) {
  for (const [name, value] of Object.entries(counts))
    if (typeof value === "object") {
      console.log(`${indent}${name}`);
      print(value, `${indent}  `);
    } else console.log(`${indent}${name}: ${value}`);
}
