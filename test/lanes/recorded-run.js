import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildRecorder, readRecord } from "./record.js";

const WRITER = fileURLToPath(new URL("./recorded-writer.js", import.meta.url));

/** The one actor of a recorded run. */
export const ACTOR = "a0";

/**
 * Runs `sessions` processes one after another, each `calls` calls and a close, and answers the record of what they did to
 * the folder. With `dropSyncs` no sync of theirs reaches the disk.
 */
export function recordRun(place, { sessions, calls, seed, dropSyncs = false }) {
  const watched = join(place, "recorded");
  const log = join(place, "record");
  mkdirSync(watched);
  const library = buildRecorder(place);
  const files = [join(watched, "kept.holdfast"), join(watched, "acknowledgements")];
  for (let session = 0; session < sessions; session += 1)
    execFileSync(process.execPath, [WRITER, ...files, String(seed + session), String(calls)], {
      env: {
        ...process.env,
        LD_PRELOAD: library,
        LANE_RECORD_FOLDER: watched,
        LANE_RECORD_LOG: log,
        ...(dropSyncs && { LANE_DROP_SYNCS: "1" }),
      },
      stdio: ["ignore", "inherit", "inherit"],
    });
  return readRecord(log);
}

/** What the writer told by this step, or `undefined` where it is a step of the folder's files. */
export function toldBy({ path, kind, data }) {
  if (basename(path) !== "acknowledgements") return undefined;
  return kind === "write" ? data.toString("utf8") : "";
}
