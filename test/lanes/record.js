import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("./shims/record-io.c", import.meta.url));
const HEAD_BYTES = 15;

const KINDS = { w: "write", t: "truncate", s: "sync", c: "create", u: "remove", r: "rename", m: "folder" };

/** Compiles the recorder; answers the library's path. */
export function buildRecorder(folder) {
  const library = `${folder}/record-io.so`;
  execFileSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], { stdio: "inherit" });
  return library;
}

/** What happened, in its order: `{ kind, path, offset, data }`. */
export function readRecord(path) {
  const bytes = readFileSync(path);
  const steps = [];
  for (let at = 0; at < bytes.length; ) {
    const kind = KINDS[String.fromCharCode(bytes[at])];
    const pathBytes = bytes.readUInt16LE(at + 1);
    const dataBytes = bytes.readUInt32LE(at + 3);
    const offset = Number(bytes.readBigUInt64LE(at + 7));
    const start = at + HEAD_BYTES;
    const name = bytes.toString("utf8", start, start + pathBytes);
    steps.push({ kind, path: name, offset, data: bytes.subarray(start + pathBytes, start + pathBytes + dataBytes) });
    at = start + pathBytes + dataBytes;
  }
  return steps;
}
