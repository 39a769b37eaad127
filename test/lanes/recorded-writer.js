/**
 * One actor that makes calls one after another, and writes what it begins and what was answered into a file of the
 * recorded folder, so that the record has them in their order.
 *
 *   node recorded-writer.js <folder> <acknowledgements> <seed> <calls>
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { SeededRandom } from "holdfast/testkit";
import { modelOf } from "./acknowledgements.js";
import { openFolder } from "./folder.js";
import { applyOperation } from "./model.js";
import { nextOperation, perform } from "./operations.js";

const [path, acknowledgements, seed, calls] = process.argv.slice(2);
const random = new SeededRandom(Number(seed));
const tell = (line) => appendFileSync(acknowledgements, `${JSON.stringify(line)}\n`);
const { model } = modelOf(existsSync(acknowledgements) ? readFileSync(acknowledgements, "utf8") : "");

const folder = await openFolder(path, { seed: Number(seed) });
tell({ opened: true });
for (let turn = 1; turn <= Number(calls); turn += 1) {
  const operation = nextOperation(random, model, "a0", Number(seed) * 1_000_000 + turn);
  tell({ begun: operation });
  await perform(operation, folder);
  applyOperation(model, operation);
  tell({ answered: operation.kind });
}
await folder.close();
tell({ closed: true });
