/**
 * An embedding service that speaks OpenAI's API: OpenAI itself, Ollama, vLLM, LM Studio. Here a small server in this
 * program stands for it, and is down at first: events are kept all the same and embedded when it is back. Yours:
 *
 *     EMBEDDINGS_URL=http://localhost:11434/v1 EMBEDDINGS_MODEL=nomic-embed-text EMBEDDINGS_DIMENSIONS=768 \
 *       node examples/embedding-service.js
 */
import { createServer } from "node:http";
import { openAiCompatibleEmbedder, openMemory } from "holdfast";

const { EMBEDDINGS_URL, EMBEDDINGS_MODEL = "words-64", EMBEDDINGS_DIMENSIONS = "64", EMBEDDINGS_KEY } = process.env;
const standIn = EMBEDDINGS_URL === undefined ? await startStandIn(Number(EMBEDDINGS_DIMENSIONS)) : undefined;

const embedder = openAiCompatibleEmbedder({
  baseUrl: EMBEDDINGS_URL ?? standIn.url,
  model: EMBEDDINGS_MODEL,
  // Vectors belong to the service that made them. The stand-in has another port each time and is the same all the while.
  endpoint: EMBEDDINGS_URL ?? "stand-in",
  dimensions: Number(EMBEDDINGS_DIMENSIONS),
  // A key is sent and never kept. A function is asked before each request, for keys that change.
  apiKey: EMBEDDINGS_KEY,
  // By default a request is repeated four times, which takes some seconds; this example does not wait.
  maxRetries: 0,
});

const memory = await openMemory("./embedding-service.holdfast", { embedder });
try {
  const session = await memory.createSession("notes");
  const receipt = await session.remember({ id: "1", text: "The spare key lies under the blue flowerpot." });
  console.log(`remembered: ${receipt.embedded}`);
  const early = await memory.recall("where is the spare key?");
  console.log(`found: ${early.hits[0]?.text} (${early.vectorSearch})`);

  standIn?.comeUp();
  // Holdfast tries again by itself; this asks for it now.
  const { embedded, waiting } = await memory.embedPending();
  console.log(`the service is there: ${embedded} embedded, ${waiting} waiting`);
  const { hits, vectorSearch } = await memory.recall("where is the spare key?");
  console.log(`found with vectors: cosine ${hits[0]?.cosineSimilarity?.toFixed(2)} (${vectorSearch})`);
} finally {
  await memory.close();
  standIn?.close();
}

/** Words hashed into vectors: enough to see it work. */
async function startStandIn(dimensions) {
  let isDown = true;
  const server = createServer(async (request, response) => {
    if (isDown) return void response.writeHead(503).end();
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { input } = JSON.parse(Buffer.concat(chunks).toString());
    const data = input.map((text, index) => ({ index, embedding: wordVector(text, dimensions) }));
    response.setHeader("content-type", "application/json").end(JSON.stringify({ data }));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    comeUp() {
      isDown = false;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function wordVector(text, dimensions) {
  const vector = new Array(dimensions).fill(0.01);
  for (const word of text.toLowerCase().match(/\w+/g) ?? []) {
    let hash = 0;
    for (const character of word) hash = (hash * 31 + character.codePointAt(0)) % dimensions;
    vector[hash] += 1;
  }
  return vector;
}
