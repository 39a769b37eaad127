// npm run build && npm run bench
import { fork } from "node:child_process";
import { cpus } from "node:os";
import { parseOptions, USAGE } from "./options.js";
import { hasBar, isMissed, lineOf } from "./report.js";
import { SECTIONS } from "./sections.js";

const options = parseOptions(process.argv.slice(2));
if (options.help) console.log(USAGE);
else await main();

async function main() {
  const names = options.only ?? [...SECTIONS.keys()];
  const unknown = names.find((name) => !SECTIONS.has(name));
  if (unknown !== undefined) throw new Error(`No section is named ${unknown}.\n${USAGE}`);
  const machine = { node: process.version, cpus: cpus().length, model: cpus()[0]?.model ?? "unknown" };
  if (!options.json) console.log(`node ${machine.node}, ${machine.cpus} x ${machine.model}`);
  const sections = [];
  for (const name of names) {
    if (!options.json) console.log(`\n${SECTIONS.get(name).title} [${name}]`);
    const figures = await runSection(name);
    sections.push({ name, figures });
    if (!options.json) for (const figure of figures) console.log(lineOf(figure));
  }
  finish(machine, sections);
}

function finish(machine, sections) {
  const barred = sections.flatMap(({ figures }) => figures).filter(hasBar);
  const missed = barred.filter(isMissed);
  if (options.json) {
    console.log(JSON.stringify({ ...machine, sections, bars: barred.length, missed: missed.length }, null, 2));
  } else {
    console.log(`\n${barred.length - missed.length} of ${barred.length} bars held`);
    for (const figure of missed) console.log(lineOf(figure));
  }
  if (options.assert && missed.length > 0) process.exitCode = 1;
}

function runSection(name) {
  return new Promise((resolve, reject) => {
    const child = fork(new URL("section.js", import.meta.url), { execArgv: [] });
    child.once("message", ({ figures, error }) => (error === undefined ? resolve(figures) : reject(new Error(error))));
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`The section ${name} ended: ${code ?? signal}.`)));
    child.send({ name, options });
  });
}
