/** Restores a backup one step at a time: each message does the next one. Answers `more`, or what the restore answered. */
import { restoreJob } from "../../../dist/database/restore.js";

const [backup, folder, replace] = process.argv.slice(2);
const steps = restoreJob.run({ backup, folder, replace: replace === "replace", openHere: [] });

process.on("message", () => {
  try {
    const { done, value } = steps.next();
    process.send({ answer: done ? value : "more" });
  } catch (error) {
    process.send({ error: `${error.code}: ${error.message}` });
  }
});
process.send({ answer: "ready" });
