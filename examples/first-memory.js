/**
 * A first memory: what two people told an assistant over some months is remembered in a folder, and asked for.
 *
 *     node examples/first-memory.js            asks a few questions, then lets you ask (on a terminal)
 *     node examples/first-memory.js --once     ends after the first questions
 *
 * Run it twice: the second time everything is there already, because events are known by their ids.
 */
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { openMemory } from "holdfast";

const FOLDER = "./first-memory.holdfast";
const CONVERSATION = fileURLToPath(new URL("conversation.jsonl", import.meta.url));

const QUESTIONS = [
  { question: "What must not be in the food?", user: "mara" },
  { question: "When does my sister get married?", user: "mara" },
  { question: "What is wrong with the bike?", user: "mara", where: "role = 'user'" },
  { question: "What is the pet called and what scares it?", user: "jonas" },
  { question: "When is he at the telescope?", user: "jonas" },
];

const memory = await openMemory(FOLDER);
try {
  await rememberAll(await readEvents());
  for (const { question, ...options } of QUESTIONS) await ask(question, options);
  if (process.stdin.isTTY && process.stdout.isTTY && !process.argv.includes("--once")) await prompt();
} finally {
  await memory.close();
}

async function readEvents() {
  const lines = (await readFile(CONVERSATION, "utf8")).trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** One call a session: its events are one commit, on disk when it answers. */
async function rememberAll(lines) {
  let created = 0;
  for (const id of new Set(lines.map((line) => line.session))) {
    const own = lines.filter((line) => line.session === id);
    const session = await memory.createSession(id, { user: own[0].user });
    const receipts = await session.rememberMany(own.map(({ session: _, user: __, ...event }) => event));
    created += receipts.filter((receipt) => receipt.created).length;
  }
  console.log(`${FOLDER}: ${created} new events, ${lines.length - created} known already`);
}

async function ask(question, options) {
  const { hits } = await memory.recall(question, { limit: 2, ...options });
  const scope = [options.user && `user ${options.user}`, options.where].filter(Boolean).join(", ");
  console.log(`\n? ${question}${scope ? `  (${scope})` : ""}`);
  if (hits.length === 0) console.log("    nothing found");
  for (const { producer, at, session, text } of hits) {
    console.log(`    ${text}\n      — ${producer}, ${at.slice(0, 10)}, ${session}`);
  }
}

async function prompt() {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  console.log("\nAsk something yourself; an empty line ends.");
  lines.setPrompt("\n> ");
  lines.prompt();
  for await (const line of lines) {
    if (line.trim() === "") break;
    await ask(line.trim(), {});
    lines.prompt();
  }
  lines.close();
}
