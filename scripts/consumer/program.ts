// Type-checked against the packed declarations, with `skipLibCheck: false` and without the optional packages.
import { type ErrorCode, HoldfastError, isHoldfastError, openMemory, openStore } from "holdfast";

export async function remember(path: string): Promise<readonly string[]> {
  const memory = await openMemory(path);
  const session = await memory.createSession("support-42", { user: "alice" });
  await session.remember({ producer: "alice", text: "I moved to Lisbon in May." });
  const { hits } = await memory.recall("where does Alice live?", { user: "alice", limit: 5 });
  await memory.close();
  return hits.map((hit) => hit.text);
}

export async function search(path: string): Promise<readonly string[]> {
  const properties = { lang: "string", year: "int" } as const;
  const store = await openStore({ path, name: "docs", dimensions: 3, properties });
  const partition = await store.createPartition("acme");
  await partition.upsert([{ id: "a", vector: [1, 0, 0], properties: { lang: "en", year: 2026 } }]);
  const { matches } = await partition.query({ vector: [1, 0, 0], limit: 5, where: (f) => f.year.gte(2024) });
  // @ts-expect-error the filter builder knows the declared properties
  await partition.query({ vector: [1, 0, 0], limit: 5, where: (f) => f.colour.equals("red") });
  await store.close();
  return matches.map((match) => match.id);
}

export function codeOf(error: unknown): ErrorCode | undefined {
  return isHoldfastError(error) ? error.code : undefined;
}

export const raised: HoldfastError = new HoldfastError("NOT_FOUND", "No such session: create it first.");
