/**
 * A process of actors that write without end, each its own names and one call after another, and tell each call before
 * it is begun and when it was answered. Its parent kills it.
 */
import { SeededRandom } from "holdfast/testkit";
import { openFolder } from "./folder.js";
import { applyOperation } from "./model.js";
import { nextOperation, perform } from "./operations.js";

/** Share of the embedder's calls that fail: what they leave is embedded later, in whichever process comes to it. */
const EMBEDDER_FAILS = 0.02;

process.once("message", async ({ path, seed, actors }) => {
  const folder = await openFolder(path, { fails: EMBEDDER_FAILS, seed });
  await Promise.all(actors.map((actor) => act(folder, actor)));
});

async function act(folder, { actor, model, retry, seed, serial }) {
  const random = new SeededRandom(seed);
  for (let turn = serial; ; turn += 1) {
    // What nobody had an answer of is made again first, under its key.
    const operation = (turn === serial && retry) || nextOperation(random, model, actor, turn);
    process.send({ actor, begun: operation });
    try {
      await perform(operation, folder);
    } catch (error) {
      process.send({ actor, refused: `${operation.kind}: ${error.stack}` });
      return;
    }
    applyOperation(model, operation);
    process.send({ actor, answered: true });
    if (random.chance(0.1)) await read(folder, model, random);
  }
}

async function read({ memory }, model, random) {
  const names = Object.keys(model.tenants);
  if (names.length === 0) return;
  const tenant = await memory.tenant(random.pick(names));
  await tenant.recall("what was said about that day", { limit: 5 });
}
