/**
 * A model of your own behind an OpenAI-compatible address. Here a small server in this program stands for it, and is
 * down at first: events are kept all the same and embedded when it is back.
 *
 *     node examples/own-embedder.js
 */
import { createServer } from "node:http";
import { openMemory } from "holdfast";

const DIMENSIONS = 64;
let isDown = true;

const server = createServer(async (request, response) => {
  if (isDown) return void response.writeHead(503).end();
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { input } = JSON.parse(Buffer.concat(chunks).toString());
  const data = input.map((text, index) => ({ index, embedding: wordVector(text) }));
  response.setHeader("content-type", "application/json").end(JSON.stringify({ data }));
}).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const address = `http://127.0.0.1:${server.address().port}/v1/embeddings`;

/** What Holdfast needs: an identity, a size, and one vector a text in the order of the texts. */
const embedder = {
  identity: { provider: "my-server", model: "words-64" },
  dimensions: DIMENSIONS,
  async embed(texts, { signal }) {
    const response = await fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${process.env.MY_KEY ?? "none"}` },
      body: JSON.stringify({ model: "words-64", input: texts }),
      signal,
    });
    // With the status Holdfast tells a service that is down from a text that it refuses.
    if (!response.ok) throw Object.assign(new Error("The embedding service failed."), { status: response.status });
    const { data } = await response.json();
    return data.sort((a, b) => a.index - b.index).map(({ embedding }) => Float32Array.from(embedding));
  },
};

const memory = await openMemory("./own-embedder.holdfast", { embedder });
try {
  const session = await memory.createSession("notes");
  const receipt = await session.remember({ id: "1", text: "The spare key lies under the blue flowerpot." });
  console.log(`while the service is down: ${receipt.embedded}`);
  const early = await memory.recall("where is the spare key?");
  console.log(`found by words: ${early.hits[0]?.text} (${early.vectorSearch})`);

  isDown = false;
  const { embedded, waiting } = await memory.embedPending();
  console.log(`the service is back: ${embedded} embedded, ${waiting} waiting`);
  const { hits, vectorSearch } = await memory.recall("where is the spare key?");
  console.log(`found with vectors: cosine ${hits[0]?.cosineSimilarity?.toFixed(2)} (${vectorSearch})`);
} finally {
  await memory.close();
  server.closeAllConnections();
  server.close();
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
