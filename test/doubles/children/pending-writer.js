/**
 * A memory whose embedder comes and goes. Messages: `remember` (ids, while the embedder is down), `drain` (embeds what is
 * pending; with `hang` the embedder tells that this call of it has begun, and never answers it), `state`. Each is answered when it is done, with the texts that were sent to the embedder so far.
 */
import { openMemory } from "holdfast";

const [path] = process.argv.slice(2);
let isDown = true;
let hangAt;
let calls = 0;
let sent = 0;

const memory = await openMemory(path, {
  embedder: {
    identity: { provider: "test", model: "pending", normalization: "unit" },
    dimensions: 32,
    async embed(texts) {
      if (isDown) throw Object.assign(new Error("down"), { code: "ECONNREFUSED" });
      calls += 1;
      sent += texts.length;
      if (calls === hangAt) {
        process.send({ answer: { hanging: true, sent } });
        await new Promise(() => undefined);
      }
      return texts.map(vectorOf);
    },
  },
});
const session = await memory.createSession("s");

process.on("message", async (message) => {
  try {
    const answer = await answerTo(message);
    process.send({ answer: { ...answer, sent } });
  } catch (error) {
    process.send({ error: `${error.code}: ${error.message}` });
  }
});
process.send({ answer: "ready" });

async function answerTo({ type, ids = [], hang }) {
  switch (type) {
    case "remember": {
      const receipts = await session.rememberMany(ids.map((id) => ({ id, text: `the note ${id}` })));
      return { pending: receipts.filter(({ embedded }) => embedded === "pending").length };
    }
    case "drain":
      isDown = false;
      hangAt = hang;
      return memory.embedPending();
    case "state": {
      const { events, segments, vectors, pending } = await memory.stats();
      const found = [];
      for (const id of ids) {
        const { hits } = await memory.recall(`the note ${id}`, { limit: 1 });
        if (hits[0]?.event === id && hits[0].channels.includes("text")) found.push(id);
      }
      return { events, segments, vectors, pending, found };
    }
    default:
      throw new Error(`unknown message ${type}`);
  }
}

/** Its own direction for each text. */
function vectorOf(text) {
  let state = 7;
  for (const character of text) state = (Math.imul(state, 31) + character.codePointAt(0)) | 0;
  return Float32Array.from({ length: 32 }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state / 2 ** 31;
  });
}
