/** A foreign process: when asked, holds the write lock of a database for some milliseconds. */
import { loadProduct } from "./product.js";

const [dist, file, holdMs] = process.argv.slice(2);
const { part } = await loadProduct(dist);
const { openConnection } = await part("database/drivers/open-connection.js");
const connection = openConnection(file, { readOnly: false, mustExist: true });
process.once("message", () => {
  connection.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
  process.send("held");
  setTimeout(() => {
    connection.exec("ROLLBACK");
    connection.close();
    process.disconnect();
  }, Number(holdMs));
});
process.send("ready");
