/** OpenAI's `POST /embeddings` on loopback, in a process of its own: answers its address when it is asked for. */
import { createHash } from "node:crypto";
import { createServer } from "node:http";

const SIZES = { "text-embedding-3-small": 1536 };

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { model, input, dimensions = SIZES[model] } = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  const data = input.map((text, index) => ({ object: "embedding", index, embedding: vectorOf(text, dimensions) }));
  response.setHeader("content-type", "application/json").end(JSON.stringify({ object: "list", model, data }));
});

function vectorOf(text, dimensions) {
  const bytes = createHash("sha256").update(text).digest();
  return Array.from({ length: dimensions }, (_, index) => (bytes[index % bytes.length] - 127.5) / 128);
}

server.listen(0, "127.0.0.1", () => {
  const { port } = server.address();
  process.on("message", () => process.send(`http://127.0.0.1:${port}/v1`));
  process.send("ready");
});
