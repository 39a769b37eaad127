/**
 * A model of your own as a function: texts in, vectors out. It fails at first, as a model that is still loading might:
 * events are kept all the same and embedded when it answers.
 *
 *     node examples/own-embedder.js
 */
import { functionEmbedder, openMemory } from "holdfast";

const DIMENSIONS = 64;
let isDown = true;

const embedder = functionEmbedder(
  // Everything that changes a vector belongs here: vectors of two identities are never compared.
  { provider: "my-team", model: "words-64", revision: "1", dimensions: DIMENSIONS },
  // `kind` tells a document from a question; `signal` ends with the caller.
  async (texts, { kind, signal }) => {
    signal?.throwIfAborted();
    // With a status Holdfast tells a service that is down from a text that it refuses.
    if (isDown) throw Object.assign(new Error(`No ${kind} can be embedded now.`), { status: 503 });
    return texts.map(wordVector);
  },
);

const memory = await openMemory("./own-embedder.holdfast", { embedder });
try {
  const session = await memory.createSession("notes");
  const receipt = await session.remember({ id: "1", text: "The spare key lies under the blue flowerpot." });
  console.log(`while the model is down: ${receipt.embedded}`);
  const early = await memory.recall("where is the spare key?");
  console.log(`found by words: ${early.hits[0]?.text} (${early.vectorSearch})`);

  isDown = false;
  const { embedded, waiting } = await memory.embedPending();
  console.log(`the model is back: ${embedded} embedded, ${waiting} waiting`);
  const { hits, vectorSearch } = await memory.recall("where is the spare key?");
  console.log(`found with vectors: cosine ${hits[0]?.cosineSimilarity?.toFixed(2)} (${vectorSearch})`);
} finally {
  await memory.close();
}

/** Words hashed into a vector: enough to see it work. */
function wordVector(text) {
  const vector = new Array(DIMENSIONS).fill(0.01);
  for (const word of text.toLowerCase().match(/\w+/g) ?? []) {
    let hash = 0;
    for (const character of word) hash = (hash * 31 + character.codePointAt(0)) % DIMENSIONS;
    vector[hash] += 1;
  }
  return vector;
}
