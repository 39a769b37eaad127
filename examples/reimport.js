/**
 * Carrying a memory elsewhere: all events are exported as JSON lines and remembered in another folder, page by page. The
 * command line does the same: holdfast export | holdfast import - --path ./copy.holdfast
 *
 *     node examples/reimport.js
 *
 * Run it again, or stop it in the middle and run it again: what is there is known by its id, and nothing is embedded twice.
 */
import { readFile } from "node:fs/promises";
import { openMemory } from "holdfast";

const lines = (await readFile(new URL("conversation.jsonl", import.meta.url), "utf8")).trim().split("\n");
const from = await openMemory("./reimport-from.holdfast");
const to = await openMemory("./reimport-to.holdfast");
try {
  console.log(
    `first folder: ${await rememberAll(
      from,
      lines.map((line) => JSON.parse(line)),
    )} new`,
  );
  let created = 0;
  let after;
  do {
    const page = await from.exportEvents({ limit: 10, after });
    created += await rememberAll(to, page.events.map(toInput));
    after = page.next;
  } while (after !== undefined);
  console.log(`second folder: ${created} new, ${await to.count()} in all`);
} finally {
  await from.close();
  await to.close();
}

/** One commit a session. */
async function rememberAll(memory, events) {
  let created = 0;
  for (const id of new Set(events.map((event) => event.session))) {
    const own = events.filter((event) => event.session === id);
    const session = await memory.createSession(id, { user: own[0].user });
    const receipts = await session.rememberMany(own.map(({ session: _, user: __, ...event }) => event));
    created += receipts.filter((receipt) => receipt.created).length;
  }
  return created;
}

/** Types that JSON lacks stand as `{ $int }`, `{ $float }` and `{ $datetime }`. */
function toInput({ properties = {}, ...event }) {
  const entries = Object.entries(properties).map(([key, value]) => [key, toValue(value)]);
  return { ...event, properties: Object.fromEntries(entries) };
}

function toValue(value) {
  if (typeof value !== "object") return value;
  if ("$int" in value) return BigInt(value.$int);
  return "$float" in value ? Number(value.$float) : { datetime: value.$datetime };
}
