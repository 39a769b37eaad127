/** One section in a process of its own: no other section's memory, threads or compiled code beside it. */
import { SECTIONS } from "./sections.js";

// Whoever stops the bench stops its sections: they would watch timers for ever.
process.once("disconnect", () => process.exit());

process.once("message", async ({ name, options }) => {
  try {
    const { run } = await SECTIONS.get(name).load();
    process.send({ figures: await run(options) });
  } catch (error) {
    process.send({ error: error instanceof Error ? error.stack : String(error) });
  }
  process.disconnect();
});
