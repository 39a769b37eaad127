/** An import that a test lets a disk spoil: what it does, what became of each step, and what a folder holds after it. */
import { createHash } from "node:crypto";
import { openMemory } from "holdfast";

const DIMENSIONS = 8;

/** Steps of one wave run at once. */
const WAVES = [
  [remember("a", 0, 1)],
  [remember("a", 1, 12), remember("b", 20, 1), remember("b", 21, 3)],
  [remember("a", 13, 2), { op: "update", session: "b", id: "e20", text: "what event 20 says anew" }],
  [{ op: "forget", session: "a", ids: ["e1", "e2"], erase: true }],
  [remember("c", 30, 20)],
  [{ op: "forget", session: "b", ids: ["e21"] }, remember("c", 50, 1)],
  [{ op: "update", session: "a", id: "e3", text: "what event 3 says anew" }, remember("c", 51, 1)],
  [remember("d", 60, 1), remember("d", 61, 1)],
];

function remember(session, from, count) {
  const events = Array.from({ length: count }, (_, n) => ({ id: `e${from + n}`, text: `what event ${from + n} says` }));
  return { op: "remember", session, events };
}

function vectorOf(text) {
  return Float32Array.from(createHash("sha256").update(text).digest().subarray(0, DIMENSIONS), (byte) => byte - 127.5);
}

const embedder = {
  identity: { provider: "test", model: "hash" },
  dimensions: DIMENSIONS,
  embed: async (texts) => texts.map(vectorOf),
};

export function open(path, options) {
  return openMemory(path, { embedder, ...options });
}

function run(memory, step) {
  const { op } = step;
  if (op === "forget") return memory.forget({ events: step.ids }, { erase: step.erase === true });
  if (op === "update") return memory.updateEvent(step.id, { text: step.text });
  return memory.createSession(step.session).then((session) => session.rememberMany(step.events));
}

/** What a caller learns of an error. */
export function describe(error) {
  const { code, outcome, retry, message, details = {} } = error;
  const { reason } = details;
  return { code: code ?? String(error?.stack ?? error), outcome, retry, message, reason };
}

/** Runs every wave, whatever fails; answers for each step what it sets, its wave and the error that it raised. */
export async function runWaves(memory) {
  const steps = [];
  for (const [wave, parts] of WAVES.entries()) {
    const settled = await Promise.allSettled(parts.map((step) => run(memory, step)));
    for (const [index, { status, reason }] of settled.entries()) {
      steps.push({ wave, sets: effectOf(parts[index]), ...(status === "rejected" && { error: describe(reason) }) });
    }
  }
  return steps;
}

/** The texts that a step gives to events, by their ids; `null` for those that it forgets. */
function effectOf({ op, events, id, text, ids }) {
  if (op === "remember") return Object.fromEntries(events.map((event) => [event.id, event.text]));
  return op === "update" ? { [id]: text } : Object.fromEntries(ids.map((id) => [id, null]));
}

/** Events that are asked for by their own texts, through each channel. */
const ASKED = ["e0", "e2", "e3", "e20", "e35", "e61"];

/** The text of each event, by their ids. */
export async function textsOf(memory) {
  const { events, damaged } = await memory.list({ limit: 1_000 });
  if (damaged !== 0) throw new Error(`${damaged} damaged events`);
  return Object.fromEntries(events.map(({ id, text }) => [id, text]));
}

/** What a folder holds, and what of its answers contradicts that. */
export async function stateOf(memory) {
  const texts = await textsOf(memory);
  const wrong = [];
  const questions = ASKED.filter((id) => id in texts).flatMap((id) => [
    [id, "vector"],
    [id, "text"],
  ]);
  await Promise.all(
    questions.map(async ([id, channel]) => {
      const answer = await memory.recall(texts[id], { limit: 3, channels: [channel], context: 0 });
      if (!answer.hits.some((hit) => hit.event === id)) wrong.push(`${id} is not found by ${channel}`);
      if (answer.damaged !== 0) wrong.push(`${answer.damaged} damaged rows`);
      for (const hit of answer.hits) if (texts[hit.event] !== hit.text) wrong.push(`${hit.event} answers ${hit.text}`);
    }),
  );
  const stats = await memory.stats();
  for (const name of ["events", "segments", "vectors"]) {
    const events = Object.keys(texts).length;
    if (stats[name] !== events) wrong.push(`${stats[name]} ${name} of ${events}`);
  }
  return { texts, wrong };
}
