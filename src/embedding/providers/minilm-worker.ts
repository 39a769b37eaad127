import type { ModelManifest } from "./minilm-model.ts";
import { importPackage } from "./packages.ts";
import { serveEmbedding } from "./serve-embedding.ts";

serveEmbedding(async (settings) => {
  const { createEmbedder } = await importPackage("@lat.md/embed", () => import("@lat.md/embed"));
  const engine = await createEmbedder({ model: settings as ModelManifest });
  return { embed: (texts) => engine.embed([...texts]) };
});
