/**
 * Forgetting: look first, then forget by ids, by a filter, by user; and with `erase` wait until the bytes are gone.
 *
 *     node examples/forgetting.js
 */
import { openMemory } from "holdfast";

const memory = await openMemory("./forgetting.holdfast");
try {
  for (const user of ["olga", "pete"]) {
    const session = await memory.createSession(`${user}-1`, { user });
    await session.rememberMany([
      { id: `${user}-address`, kind: "fact", text: `${user} lives at the harbour.`, properties: { private: true } },
      { id: `${user}-draft`, kind: "draft", text: `${user} may want a garden.` },
      { id: `${user}-colour`, kind: "fact", text: `${user} likes the colour green.` },
    ]);
  }
  console.log(`remembered: ${await memory.count()} events`);

  const drafts = { where: "kind = 'draft'" };
  const { forgotten: would } = await memory.forget(drafts, { dryRun: true });
  console.log(`drafts that would be forgotten: ${would}, still there: ${await memory.count()}`);
  await memory.forget(drafts);
  await memory.forget({ events: ["pete-colour"] });
  console.log(`left: ${(await memory.list()).events.map(({ id }) => id).join(", ")}`);

  // All that was ever said by a user, out of every answer when the call returns and out of the files as well.
  const { forgotten, erasure } = await memory.forget({ user: "olga" }, { erase: true });
  console.log(`olga: ${forgotten} forgotten, erasure ${erasure}`);
  const { hits } = await memory.recall("who lives at the harbour?");
  console.log(`found now: ${hits.map(({ event }) => event).join(", ")}`);
} finally {
  await memory.close();
}
