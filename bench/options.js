import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

export const USAGE = `npm run bench -- [options]
  --only a,b        sections: writes callers kernel scan filters stalls processes load recall
  --json            one JSON document instead of the table
  --assert          exit code 1 when a bar is missed
  --rows n          records of the large partitions, default 100000
  --seconds n       duration of the section "processes", default 20
  --rounds n        rounds of which the best or the median counts, default 5
  --folder path     where the data is written, default the system's folder for temporary files
  --dist path       the built files, default ../dist`;

/** What each section is run with, complete. */
export function parseOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string" },
      json: { type: "boolean", default: false },
      assert: { type: "boolean", default: false },
      rows: { type: "string", default: "100000" },
      seconds: { type: "string", default: "20" },
      rounds: { type: "string", default: "5" },
      folder: { type: "string", default: tmpdir() },
      dist: { type: "string", default: new URL("../dist", import.meta.url).pathname },
      help: { type: "boolean", default: false },
    },
  });
  return {
    ...values,
    only: values.only?.split(","),
    rows: toCount(values.rows, "rows"),
    seconds: toCount(values.seconds, "seconds"),
    rounds: toCount(values.rounds, "rounds"),
    folder: resolve(values.folder),
    dist: resolve(values.dist),
  };
}

function toCount(text, name) {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new Error(`--${name} is a whole number above 0.`);
}
