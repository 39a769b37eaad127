import { importPackage } from "./packages.ts";
import { serveEmbedding } from "./serve-embedding.ts";
import type { TransformersSettings } from "./transformers.ts";

/** What we use of the package: taken by its shape, so that nobody needs it to compile. */
interface TransformersPackage {
  readonly env: {
    allowLocalModels: boolean;
    allowRemoteModels: boolean;
    useBrowserCache: boolean;
    useFSCache: boolean;
    logLevel: number;
  };
  readonly LogLevel: { readonly NONE: number };
  pipeline(
    task: "feature-extraction",
    model: string,
    options: { readonly dtype: string; readonly local_files_only: true },
  ): Promise<Extractor>;
}

interface Extractor {
  (
    texts: string[],
    options: { readonly pooling: string; readonly normalize: boolean },
  ): Promise<{ readonly data: ArrayLike<number> }>;
  dispose(): Promise<unknown>;
}

const POOLING = { mean: "mean", cls: "cls", last: "last_token" } as const;

serveEmbedding(async (settings) => {
  const { folder, dtype, pooling, normalize, packageName } = settings as TransformersSettings;
  const { env, LogLevel, pipeline } = (await importPackage(
    packageName,
    () => import(packageName),
  )) as TransformersPackage;
  // Nothing but the folder is read: no download, and no older copy in a cache.
  Object.assign(env, { allowLocalModels: true, allowRemoteModels: false, useBrowserCache: false, useFSCache: false });
  // It logs the tokens of a text that a model fails for (O4).
  env.logLevel = LogLevel.NONE;
  const extract = await pipeline("feature-extraction", folder, { dtype, local_files_only: true });
  return {
    // Text by text: padding costs what a batch saves, and with 8-bit weights a text's vector depends on the texts beside it
    // (MiniLM: a cosine of 0.99 to the vector that it has alone).
    async embed(texts) {
      const vectors: ArrayLike<number>[] = [];
      for (const text of texts) {
        const { data } = await extract([text], { pooling: POOLING[pooling], normalize });
        vectors.push(Float32Array.from(data));
      }
      return vectors;
    },
    async close() {
      await extract.dispose();
    },
  };
});
