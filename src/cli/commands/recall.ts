import type { Command } from "commander";
import type { RecallAnswer, RecallHit, RecallOptions } from "../../index.ts";
import { withMemory } from "../folder.ts";
import { type CommonOptions, toCosine, toCount, withCommonOptions, withJson } from "../options.ts";
import { bold, dim, type Output } from "../output.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { toPrintableLine, toPrintableText } from "../text/printable.ts";
import { formatMinute } from "../text/quantities.ts";
import { wrapText } from "../text/width.ts";

interface RecallFlags extends CommonOptions {
  readonly user?: string;
  readonly session?: string;
  readonly where?: string;
  readonly limit: number;
  readonly minCosine?: number;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ holdfast recall where does Alice live
  $ holdfast recall "what did we decide" --session planning --limit 3
  $ holdfast recall Lisbon --user alice --where "m.topic = 'home' AND at >= date '2026-01-01'"
  $ holdfast recall Lisbon --json | jq -r '.hits[].text'`;

/** `holdfast recall`: asks by meaning and by words. */
export function addRecall(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("recall")
    .summary("ask the memory a question")
    .description("Finds what was remembered that answers a question, by meaning and by words, best first.")
    .argument("<question...>", "the question; several words need no quotes")
    .option("--user <id>", "only sessions of this user")
    .option("--session <id>", "only this session")
    .option("--where <filter>", "a filter on system fields and your own keys, such as \"m.topic = 'home'\"")
    .option("--limit <count>", "hits at most", toCount, 10)
    .option("--min-cosine <number>", "drop hits by meaning below this cosine, -1 to 1", toCosine)
    .addHelpText("after", EXAMPLES);
  withCommonOptions(withJson(command), surroundings).action((words: readonly string[], flags: RecallFlags) =>
    recall(surroundings, words.join(" "), flags),
  );
}

async function recall(surroundings: Surroundings, question: string, flags: RecallFlags): Promise<void> {
  const { stdout, stderr, signal } = surroundings;
  const { user, session, where, limit, minCosine } = flags;
  const options: RecallOptions = {
    limit,
    signal,
    ...(user !== undefined && { user }),
    ...(session !== undefined && { session }),
    ...(where !== undefined && { where }),
    ...(minCosine !== undefined && { minCosineSimilarity: minCosine }),
  };
  await withMemory(surroundings, flags.path, "existing", async (memory) => {
    const answer = await memory.recall(question, options);
    for (const note of notesOf(answer)) await stderr.write(`note: ${note}\n`);
    await stdout.write(flags.json ? toJsonLine(answer) : renderAnswer(answer, stdout));
  });
}

function renderAnswer({ hits }: RecallAnswer, output: Output): string {
  if (hits.length === 0) return "Nothing found.\n";
  return hits.map((hit, index) => renderHit(hit, index + 1, output)).join("\n");
}

function renderHit(hit: RecallHit, rank: number, output: Output): string {
  const who = toPrintableLine(hit.producer ?? hit.role ?? "someone");
  const head = `${String(rank).padStart(2)}. ${bold(output, who)}, ${formatMinute(hit.at)} UTC`;
  const lines = wrapText(toPrintableText(hit.text), output.columns - 4).map((line) => `    ${line}`.trimEnd());
  const origin = wrapText(toPrintableLine(originOf(hit)), output.columns - 4).map((line) => dim(output, `    ${line}`));
  return `${[head, ...lines, ...origin].join("\n")}\n`;
}

function originOf(hit: RecallHit): string {
  // Not the score, which is 0 for a single hit and below 0 for half of many: the order says it better.
  const scores = [
    ...(hit.cosineSimilarity === undefined ? [] : [`cosine ${hit.cosineSimilarity.toFixed(2)}`]),
    ...(hit.textScore === undefined ? [] : [`words ${hit.textScore.toFixed(1)}`]),
  ];
  const user = hit.user === undefined ? "" : ` (${hit.user})`;
  return [`session ${hit.session}${user}`, `event ${hit.event}`, ...scores].join(" · ");
}

/** What makes an answer less than whole; said beside it, not in it. */
function notesOf({ vectorSearch, damaged }: RecallAnswer): readonly string[] {
  const notes: string[] = [];
  if (vectorSearch === "not-embedded") notes.push("the question could not be embedded; only words were compared.");
  if (vectorSearch === "other-space") notes.push("another model made the stored vectors; only words were compared.");
  if (damaged > 0) notes.push(`${damaged} damaged rows were left out; restore them from a backup.`);
  return notes;
}
