/**
 * Processes that write one folder at the same time are ended by SIGKILL: at random moments, and at each failpoint. Then
 * the folder is opened and held against what was acknowledged, and the next processes go on with it.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { verifyFolder } from "holdfast";
import { FAILPOINTS } from "./failpoints.js";
import { openFolder } from "./folder.js";
import { applyOperation, copyOf, emptyModel } from "./model.js";
import { compare, observe, searchFaults } from "./observe.js";

const WRITER = fileURLToPath(new URL("./writer.js", import.meta.url));
const FAILPOINTS_MODULE = new URL("./failpoints.js", import.meta.url).href;
const PROCESSES = 2;
const ACTORS = 8;
/** Kills of each process in a round; between two of them the others write on. */
const KILLS = 3;
/** How long a process writes before it is killed, at most; one that waits for a failpoint gets longer. */
const LIFE_MS = 1_200;
const FAILPOINT_LIFE_MS = 4_000;
/** How often a failpoint may be passed before it acts. */
const TURNS = 12;
/** Share of what is there that each check searches for. */
const SEARCHED = 0.1;

export class KillLane {
  kills = 0;
  inFlight = 0;
  acknowledged = 0;
  byKind = new Map();
  byFailpoint = new Map(Object.keys(FAILPOINTS).map((name) => [name, 0]));
  faults = [];
  #path;
  #random;
  #actors = new Map();
  #serial = 1;

  constructor(path, random) {
    this.#path = path;
    this.#random = random;
    for (let index = 0; index < PROCESSES * ACTORS; index += 1)
      this.#actors.set(`a${index}`, { before: emptyModel(), under: undefined });
  }

  /**
   * One round: the processes are started and killed, each several times while the others write on, its own names checked
   * behind each kill; at the end nobody has the folder open, and all of it is checked. Answers whether it held.
   */
  async round() {
    const names = [...this.#actors.keys()];
    await Promise.all(
      Array.from({ length: PROCESSES }, (_, index) => this.#killOne(names.slice(index * ACTORS, (index + 1) * ACTORS))),
    );
    await this.#check(names);
    const { ok, findings } = await verifyFolder(this.#path);
    if (!ok) this.faults.push(`verify: ${JSON.stringify(findings.slice(0, 5))}`);
    return this.faults.length === 0;
  }

  async #killOne(names) {
    for (let kill = 0; kill < KILLS && this.faults.length === 0; kill += 1) {
      await this.#runOne(names, this.#random.chance(0.6));
      if (kill < KILLS - 1) await this.#check(names);
    }
  }

  #runOne(names, atFailpoint) {
    const failpoint = atFailpoint ? this.#rarestFailpoint() : undefined;
    const child = fork(WRITER, [], {
      execArgv: failpoint === undefined ? [] : ["--import", FAILPOINTS_MODULE],
      env: {
        ...process.env,
        ...(failpoint !== undefined && {
          LANE_FAILPOINT: failpoint,
          LANE_FAILPOINT_TURN: String(this.#random.below(TURNS)),
        }),
      },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const actors = names.map((actor) => ({
      actor,
      model: this.#actors.get(actor).before,
      retry: this.#actors.get(actor).under,
      seed: this.#random.below(2 ** 32),
      serial: this.#nextSerials(),
    }));
    child.send({ path: this.#path, seed: this.#random.below(2 ** 32), actors });
    const life = failpoint === undefined ? this.#random.below(LIFE_MS) : FAILPOINT_LIFE_MS;
    let timer;
    let ended = false;
    /** Actors whose call is under way. */
    const begun = new Set();
    const kill = () => {
      ended = true;
      child.kill("SIGKILL");
    };
    // One kill in ten comes while the folder is being opened.
    if (this.#random.chance(0.1)) timer = setTimeout(kill, life);
    return new Promise((resolve, reject) => {
      child.on("message", (message) => {
        timer ??= setTimeout(kill, life);
        if (message.begun === undefined) begun.delete(message.actor);
        else begun.add(message.actor);
        this.#hear(message);
      });
      child.on("error", reject);
      // `close` comes after the last message has been read, `exit` may come before.
      child.on("close", (code, signal) => {
        clearTimeout(timer);
        if (signal !== "SIGKILL") this.faults.push(`A writer ended by itself with ${code ?? signal}.`);
        this.kills += 1;
        if (begun.size > 0) this.inFlight += 1;
        if (!ended && failpoint !== undefined) this.byFailpoint.set(failpoint, this.byFailpoint.get(failpoint) + 1);
        resolve();
      });
    });
  }

  #hear({ actor, begun, answered, refused }) {
    const state = this.#actors.get(actor);
    if (begun !== undefined) state.under = begun;
    if (refused !== undefined) this.faults.push(`${actor}: ${refused}`);
    if (answered === undefined) return;
    const { kind } = state.under;
    applyOperation(state.before, state.under);
    state.under = undefined;
    this.acknowledged += 1;
    this.byKind.set(kind, (this.byKind.get(kind) ?? 0) + 1);
  }

  async #check(names) {
    const folder = await openFolder(this.#path);
    try {
      for (const actor of names) {
        const state = this.#actors.get(actor);
        const after = state.under && copyOf(state.before);
        if (after !== undefined) applyOperation(after, state.under);
        const { model, faults } = await observe(folder, actor);
        const unequal = compare(model, state.before, after, state.under);
        for (const fault of unequal)
          this.faults.push(`${fault.kind}: ${JSON.stringify(fault)} ${JSON.stringify(state.under ?? null)}`);
        this.faults.push(...faults, ...(await searchFaults(folder, model, this.#random, SEARCHED)));
        // The call that nobody had an answer of is made again; whether it was done already, it comes to the same.
        if (state.under === undefined) this.#actors.set(actor, { before: model, under: undefined });
      }
    } finally {
      await folder.close();
    }
  }

  #rarestFailpoint() {
    const least = Math.min(...this.byFailpoint.values());
    return this.#random.pick([...this.byFailpoint].filter(([, count]) => count === least).map(([name]) => name));
  }

  /** Each text is one of a kind: no two processes count through the same numbers. */
  #nextSerials() {
    const serial = this.#serial;
    this.#serial += 1_000_000;
    return serial;
  }
}
