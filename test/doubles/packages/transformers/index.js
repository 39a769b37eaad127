/**
 * Stands for transformers.js, which brings 475 MB: the part of its surface that Holdfast calls, with vectors of a hashed
 * bag of words in the size that the model's `config.json` gives. `FAIL` in a text makes its model fail as ONNX does.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SUFFIX = { fp32: "", fp16: "_fp16", q8: "_quantized", q4: "_q4" };

export const LogLevel = Object.freeze({ DEBUG: 10, INFO: 20, WARNING: 30, ERROR: 40, NONE: 50 });

export const env = {
  allowLocalModels: false,
  allowRemoteModels: true,
  useFSCache: true,
  useBrowserCache: true,
  logLevel: LogLevel.WARNING,
};

export async function pipeline(task, model, { dtype, local_files_only }) {
  if (task !== "feature-extraction") throw new Error(`Unsupported pipeline: ${task}`);
  if (!env.allowLocalModels || env.allowRemoteModels || env.useFSCache || local_files_only !== true)
    throw new Error("This would look elsewhere than in the folder.");
  const weights = join(model, "onnx", `model${SUFFIX[dtype]}.onnx`);
  if (!existsSync(weights)) throw new Error(`file was not found locally at "${weights}"`);
  const salt = readFileSync(weights).subarray(0, 4096);
  const { hidden_size: size } = JSON.parse(readFileSync(join(model, "config.json"), "utf8"));
  const extract = async (texts, { pooling, normalize }) => {
    if (!["mean", "cls", "last_token"].includes(pooling)) throw Error(`Pooling method '${pooling}' not supported.`);
    const rows = texts.map((text) => vectorOf(text, { size, salt: [salt, pooling].join(), normalize }));
    return { dims: [texts.length, size], data: Float32Array.from(rows.flat()) };
  };
  return Object.assign(extract, { dispose: async () => [] });
}

function vectorOf(text, { size, salt, normalize }) {
  if (text.includes("FAIL")) {
    if (env.logLevel < LogLevel.NONE) process.stderr.write(`An error occurred during model execution. Inputs: ${text}`);
    throw new Error("Non-zero status code returned while running the model.");
  }
  const vector = new Array(size).fill(0.01);
  for (const word of text.toLowerCase().match(/\w+/g) ?? []) {
    const digest = createHash("sha256").update(salt).update(word).digest();
    vector[digest.readUInt32LE(0) % size] += 1;
  }
  const norm = normalize ? Math.hypot(...vector) : 1;
  return vector.map((component) => component / norm);
}
