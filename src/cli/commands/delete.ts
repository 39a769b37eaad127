import type { Command } from "commander";
import type { DeletionOptions, DeletionReceipt, Memory, Tenant } from "../../index.ts";
import { confirm } from "../confirm.ts";
import { withMemory, withTenant } from "../folder.ts";
import { type CommonOptions, folderOf, withCommonOptions, withFolderOptions, withJson } from "../options.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { toPrintableLine } from "../text/printable.ts";
import { countOf } from "../text/quantities.ts";

interface DeleteFlags extends CommonOptions {
  readonly yes?: true;
  readonly erase?: true;
  readonly json?: true;
}

/** What is about to go, and how. */
interface Deletion {
  readonly noun: "session" | "tenant";
  readonly id: string;
  /** Events that go with it; `undefined` when there is none of that id. */
  count(): Promise<number | undefined>;
  remove(options: DeletionOptions): Promise<DeletionReceipt>;
}

const SESSION_HELP = `
Examples:
  $ holdfast delete-session support-42
  $ holdfast delete-session support-42 --tenant acme --erase --yes`;

const TENANT_HELP = `
Handles of it that are open elsewhere end at once. A new tenant under the same id knows nothing of the old one.

Examples:
  $ holdfast delete-tenant acme
  $ holdfast delete-tenant acme --erase --yes`;

/** `holdfast delete-session`: a conversation with all its events. */
export function addDeleteSession(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("delete-session")
    .summary("delete a session with its events")
    .description("Deletes a session with all its events, their history and its summary.")
    .argument("<session>", "its id, as sessions shows it")
    .addHelpText("after", SESSION_HELP);
  withCommonOptions(withDeletion(command), surroundings).action((id: string, flags: DeleteFlags) =>
    withTenant(surroundings, flags, "existing", (memory) => remove(sessionOf(memory, id), surroundings, flags)),
  );
}

/** `holdfast delete-tenant`: a tenant's whole memory. */
export function addDeleteTenant(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("delete-tenant")
    .summary("delete a tenant's whole memory")
    .description("Deletes a tenant with all its sessions and events.")
    .argument("<tenant>", "its id, as tenants shows it")
    .addHelpText("after", TENANT_HELP);
  withFolderOptions(withDeletion(command), surroundings).action((id: string, flags: DeleteFlags) =>
    withMemory(surroundings, folderOf(flags), "existing", (memory) =>
      remove(tenantOf(memory, id), surroundings, flags),
    ),
  );
}

function withDeletion(command: Command): Command {
  const asking = command.option("--yes", "do not ask");
  return withJson(asking.option("--erase", "return only when the bytes have left the files"));
}

function sessionOf(memory: Tenant, id: string): Deletion {
  return {
    noun: "session",
    id,
    count: async () => (await memory.getSession(id))?.count(),
    remove: (options) => memory.deleteSession(id, options),
  };
}

function tenantOf(memory: Memory, id: string): Deletion {
  return {
    noun: "tenant",
    id,
    count: async () => (await memory.getTenant(id))?.count(),
    remove: (options) => memory.deleteTenant(id, options),
  };
}

async function remove({ noun, id, ...deletion }: Deletion, surroundings: Surroundings, flags: DeleteFlags) {
  const { stdout, stderr, signal } = surroundings;
  const name = `${noun} ${toPrintableLine(JSON.stringify(id))}`;
  if (!flags.yes) {
    const events = await deletion.count();
    // Without one the call is made all the same: it finishes a deletion that was cut short.
    if (events !== undefined && !(await confirm(`Delete ${name} with ${countOf(events, "event")}?`, surroundings))) {
      await stderr.write("Nothing was deleted.\n");
      return;
    }
  }
  const receipt = await deletion.remove({ signal, ...(flags.erase && { erase: true }) });
  const said = receipt.deleted ? `Deleted ${name}` : `There is no ${name}`;
  await stdout.write(flags.json ? toJsonLine(receipt) : `${said}\n`);
  if (receipt.erasure === "pending")
    await stderr.write("note: the bytes are not out of the files yet; another process holds them.\n");
}
