import { describe, expect, it } from "vitest";
import { openMemoryBed } from "./memories.ts";

const EVENT = {
  id: "e",
  text: "Alice moved to Lisbon",
  producer: "alice",
  role: "user",
  kind: "message",
  at: "2026-05-01T12:00:00+02:00",
  properties: { topic: "home" },
};

const DAMAGE: readonly (readonly [string, string])[] = [
  ["text", "UPDATE events SET text = 'Alice moved to London' WHERE id = 'e'"],
  ["id", "UPDATE events SET id = 'f' WHERE id = 'e'"],
  ["time", "UPDATE events SET at = at + 1 WHERE id = 'e'"],
  ["producer", "UPDATE events SET producer = 'bob' WHERE id = 'e'"],
  ["missing producer", "UPDATE events SET producer = NULL WHERE id = 'e'"],
  ["role", "UPDATE events SET role = 'tool' WHERE id = 'e'"],
  ["kind", "UPDATE events SET kind = 'fact' WHERE id = 'e'"],
  ["session", "UPDATE events SET session = (SELECT session FROM sessions WHERE id = 'other') WHERE id = 'e'"],
  ["session's id", "UPDATE sessions SET id = 'b' WHERE id = 'a'"],
  ["session's user", "UPDATE sessions SET user = 'mallory' WHERE id = 'a'"],
  ["property", "UPDATE event_properties SET value = 'work'"],
  ["property's type", "UPDATE event_properties SET kind = 'datetime'"],
  ["property's name", "UPDATE event_properties SET name = 'tropic'"],
  ["segment's range", "UPDATE segments SET \"end\" = 5 WHERE event = (SELECT event FROM events WHERE id = 'e')"],
  ["missing segment", "DELETE FROM segments WHERE event = (SELECT event FROM events WHERE id = 'e')"],
];

describe("an event on a damaged page", () => {
  it.each(DAMAGE)("[E11] with another %s is not answered and is counted; the others go on", async (_, sql) => {
    const { memory, raw } = await openMemoryBed();
    await (await memory.createSession("other")).remember({ id: "g", text: "Alice likes Lisbon" });
    const session = await memory.createSession("a", { user: "alice" });
    await session.remember(EVENT);
    expect((await memory.recall("Alice in Lisbon")).hits).toHaveLength(2);
    raw.exec(sql);
    const { hits, damaged } = await memory.recall("Alice in Lisbon");
    expect(hits.map(({ event }) => event)).toEqual(["g"]);
    expect(damaged).toBeGreaterThan(0);
  });
});
