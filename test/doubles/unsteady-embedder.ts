import { createHashEmbedder, type HashEmbedder, type HashEmbedderOptions } from "./hash-embedder.ts";

export interface UnsteadyEmbedder extends HashEmbedder {
  /** Whether the service is down: then each call fails as one to a closed port does. */
  isDown: boolean;
  /** Texts that hold one of these fail by themselves, and their whole call with them. */
  readonly poison: Set<string>;
  /** Awaited before each call is answered. */
  gate: Promise<void> | undefined;
}

/** An embedder whose service comes and goes, and which refuses some texts: as tests say. */
export function createUnsteadyEmbedder(options: HashEmbedderOptions = {}): UnsteadyEmbedder {
  const steady = createHashEmbedder({
    ...options,
    before: async (texts) => {
      await unsteady.gate;
      if (unsteady.isDown)
        throw Object.assign(new Error("connect ECONNREFUSED, key sk-secret"), { code: "ECONNREFUSED" });
      const refused = texts.find((text) => [...unsteady.poison].some((word) => text.includes(word)));
      if (refused !== undefined) throw Object.assign(new Error(`refused: ${refused}`), { status: 400 });
    },
  });
  const unsteady: UnsteadyEmbedder = {
    isDown: false,
    poison: new Set(),
    gate: undefined,
    identity: steady.identity,
    dimensions: steady.dimensions,
    ...(steady.maxTokens !== undefined && { maxTokens: steady.maxTokens }),
    calls: steady.calls,
    countTokens: steady.countTokens,
    embed: (texts, call) => steady.embed(texts, call),
    get textsEmbedded() {
      return steady.textsEmbedded;
    },
  };
  return unsteady;
}
