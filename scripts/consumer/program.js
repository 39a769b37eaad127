// What a user's first program does, run from the packed package in an empty folder.
import assert from "node:assert/strict";
import { isHoldfastError, openMemory, openStore } from "holdfast";

const path = "./memory.holdfast";
const first = await openMemory(path);
const session = await first.createSession("support-42", { user: "alice" });
await session.remember({ producer: "alice", text: "I moved to Lisbon in May." });
await session.remember({ producer: "alice", text: "My bicycle is green." });
await first.close();

const second = await openMemory(path);
const { hits } = await second.recall("where does Alice live?", { user: "alice", limit: 1 });
assert.equal(hits[0]?.text, "I moved to Lisbon in May.");
await second.close();

const store = await openStore({ path: "./vectors.holdfast", name: "docs", dimensions: 3, properties: { year: "int" } });
const partition = await store.createPartition("acme");
await partition.upsert([
  { id: "a", vector: [1, 0, 0], properties: { year: 2023 } },
  { id: "b", vector: [0, 1, 0], properties: { year: 2026 } },
]);
const { matches, exact } = await partition.query({ vector: [1, 0, 0], limit: 5, where: (f) => f.year.gte(2024) });
assert.deepEqual([matches.map((match) => match.id), exact], [["b"], true]);
await assert.rejects(partition.upsert([{ id: "c", vector: [0, 0, 0] }]), (error) =>
  isHoldfastError(error, "INVALID_VECTOR"),
);
await store.close();
console.log("the packed package remembers, recalls, filters and refuses");
