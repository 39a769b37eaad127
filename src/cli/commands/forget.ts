import type { Command } from "commander";
import { withMemory } from "../folder.ts";
import { type CommonOptions, withCommonOptions, withJson } from "../options.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { formatCount } from "../text/quantities.ts";

interface ForgetFlags extends CommonOptions {
  readonly erase?: true;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ holdfast forget 9f1c2f52-4a7e-4f0e-9d53-0c8a6f3f1b2a
  $ holdfast forget old-1 old-2 --erase`;

/** `holdfast forget`: removes events by id. */
export function addForget(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("forget")
    .summary("forget events")
    .description("Removes events with their texts, words and vectors. Unknown ids are no error.")
    .argument("<event...>", "ids of events, as recall shows them")
    .option("--erase", "return only when their bytes have left the files")
    .addHelpText("after", EXAMPLES);
  withCommonOptions(withJson(command), surroundings).action((events: readonly string[], flags: ForgetFlags) =>
    withMemory(surroundings, flags.path, "existing", async (memory) => {
      const { stdout, stderr, signal } = surroundings;
      const receipt = await memory.forget({ events }, { signal, ...(flags.erase && { erase: true }) });
      await stdout.write(flags.json ? toJsonLine(receipt) : `Forgotten: ${formatCount(receipt.forgotten)}\n`);
      if (receipt.erasure === "pending")
        await stderr.write("note: the bytes are not out of the files yet; another process holds them.\n");
    }),
  );
}
