/**
 * Works in a process that lacks something, or loses a thread, and prints as JSON what it was told.
 *   node scarce-process.js <scenario> <folder>
 */
import { closeSync, openSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";

const [scenario, path] = process.argv.slice(2);

/** Threads of the package by their names, and the limits that a test gives to some. */
const workers = new Map();
const limits = new Map();
const Worker = threads.Worker;
threads.Worker = class extends Worker {
  constructor(url, options) {
    super(url, { ...options, ...(limits.has(options.name) && { resourceLimits: limits.get(options.name) }) });
    workers.set(options.name, this);
  }
};
syncBuiltinESMExports();

const { describe, open, runWaves, stateOf } = await import("./import-plan.js");

const scenarios = {
  /** No descriptor is left while the folder is opened. */
  async "open-without-descriptors"() {
    const errors = [];
    for (const free of [0, 1, 3, 5, 9, 14, 20]) {
      const giveBack = takeDescriptors(free);
      const opened = await open(path).catch(describe);
      giveBack();
      if (typeof opened.close === "function") await opened.close();
      else errors.push(opened);
    }
    return { errors, ...(await inspect()) };
  },

  /** They run out under a handle that is open, and come back. */
  async "descriptors-run-out"() {
    const memory = await open(path);
    const giveBack = takeDescriptors(0);
    const steps = await runWaves(memory);
    giveBack();
    const { wrong } = await stateOf(memory);
    const { erasure } = await memory.forget({ events: ["e0"] }, { erase: true });
    await memory.close();
    return { steps, wrong, erasure };
  },

  /** A limit of the size of files, which the shell has set. */
  async "file-size"() {
    const memory = await open(path, { threads: "inline" });
    const session = await memory.createSession("s");
    const acknowledged = [];
    for (;;) {
      const events = Array.from({ length: 20 }, (_, n) => ({
        id: `f${acknowledged.length + n}`,
        text: `line ${acknowledged.length + n} `.repeat(100),
      }));
      const error = await session.rememberMany(events).then(() => undefined, describe);
      if (error !== undefined) {
        await memory.close();
        return { error, acknowledged };
      }
      acknowledged.push(...events.map(({ id }) => id));
    }
  },

  "writer-ends": () => loseThread("writer"),
  "reader-ends": () => loseThread("reader"),

  async "writer-out-of-memory"() {
    limits.set("holdfast-writer", { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 2 });
    const memory = await open(path);
    const session = await memory.createSession("s");
    await session.remember({ id: "kept", text: "kept before" });
    const events = Array.from({ length: 8_000 }, (_, n) => ({ id: `b${n}`, text: `large ${n} `.repeat(300) }));
    const error = await session.rememberMany(events).then(() => undefined, describe);
    const later = await memory.recall("kept").then(() => undefined, describe);
    await memory.close();
    limits.clear();
    return { error, later, kept: await keeps(["kept"]) };
  },
};

/** Ends a thread in the middle of the traffic: every call is answered, and what was acknowledged is there afterwards. */
async function loseThread(role) {
  const memory = await open(path);
  const session = await memory.createSession("s");
  const acknowledged = [];
  const errors = [];
  const calls = Array.from({ length: 200 }, async (_, n) => {
    await session.remember({ id: `w${n}`, text: `word ${n}` }).then(
      () => acknowledged.push(`w${n}`),
      (e) => errors.push(describe(e)),
    );
    if (n === 5) void workers.get(`holdfast-${role}`).terminate();
    await memory.recall(`word ${n}`).catch((error) => errors.push(describe(error)));
  });
  await Promise.all(calls);
  const later = await memory.recall("word").then(() => undefined, describe);
  await memory.close();
  return { errors, later, kept: await keeps(acknowledged) };
}

/** Whether all of them are there, in a folder that is opened anew by this process. */
async function keeps(ids) {
  const memory = await open(path);
  const found = await Promise.all(ids.map((id) => memory.getEvent(id)));
  await memory.close();
  return found.every((event) => event !== undefined);
}

async function inspect() {
  const memory = await open(path);
  await runWaves(memory);
  const { wrong } = await stateOf(memory);
  await memory.close();
  return { wrong };
}

/** Takes all descriptors but so many; answers how to give them back. */
function takeDescriptors(free) {
  const taken = [];
  for (;;) {
    try {
      taken.push(openSync("/dev/null"));
    } catch {
      break;
    }
  }
  for (let left = free; left > 0; left -= 1) closeSync(taken.pop());
  return () => {
    for (const descriptor of taken) closeSync(descriptor);
  };
}

process.stdout.write(JSON.stringify(await scenarios[scenario]()));
