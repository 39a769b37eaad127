/**
 * An agent's turn: what it was told before is recalled, written into the prompt within a budget, and the turn is kept.
 *
 *     node examples/chat-agent.js
 *
 * `answer` stands for the call of a language model. Run it again: the agent still knows, and nothing is kept twice.
 */
import { openMemory, renderContext } from "holdfast";

const TURNS = [
  "I am allergic to walnuts, please remember that.",
  "My flight to Oslo leaves on Friday at seven in the morning.",
  "What should the cake be without?",
];

const memory = await openMemory("./chat-agent.holdfast");
try {
  const session = await memory.createSession("chat-1", { user: "ines" });
  for (const [turn, text] of TURNS.entries()) await takeTurn(session, turn, text);
} finally {
  await memory.close();
}

async function takeTurn(session, turn, text) {
  // All of the user's sessions: what was said last month in another chat counts too.
  const recalled = await memory.recall(text, { user: "ines", limit: 5, where: "role = 'user'" });
  const { events: recent } = await session.recent({ maxEvents: 4, maxCharacters: 2_000 });
  const prompt = [
    "What you know about the user:",
    renderContext(recalled, { maxCharacters: 1_500 }) || "(nothing yet)",
    "The conversation so far:",
    ...recent.map(({ role, text: said }) => `${role}: ${said}`),
    `user: ${text}`,
  ].join("\n");
  const reply = answer(prompt);
  await session.rememberMany([
    { id: `chat-1/${turn}/user`, producer: "Ines", role: "user", text },
    { id: `chat-1/${turn}/assistant`, producer: "Assistant", role: "assistant", text: reply },
  ]);
  console.log(`\n${prompt}\nassistant: ${reply}`);
}

function answer(prompt) {
  return prompt.endsWith("without?") && prompt.includes("allergic to walnuts") ? "No walnuts." : "Noted.";
}
