/** Opens a folder to write, as a user who may not, and says what it is told. */
import { openStore } from "holdfast";

if (process.getuid() === 0) {
  process.setgroups([]);
  process.setgid(65_534);
  process.setuid(65_534);
}
try {
  await openStore({ path: process.argv[2], name: "shared", dimensions: 64 });
  process.send({ answer: "opened" });
} catch (error) {
  process.send({ error: `${error.code}: ${error.message}` });
}
