import type { Command } from "commander";
import type { TenantInfo } from "../../index.ts";
import { withMemory } from "../folder.ts";
import { type CommonOptions, folderOf, withFolderOptions, withJson } from "../options.ts";
import type { Output } from "../output.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { formatCount, formatMinute } from "../text/quantities.ts";
import { renderRows } from "../text/rows.ts";

interface TenantsFlags extends CommonOptions {
  readonly json?: true;
}

const PAGE = 1_000;

const EXAMPLES = `
Examples:
  $ holdfast tenants
  $ holdfast stats --tenant acme`;

/** `holdfast tenants`: whose memories the folder holds. */
export function addTenants(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("tenants")
    .summary("list the tenants")
    .description("Lists the tenants of the folder, by id. With --json one array.")
    .addHelpText("after", EXAMPLES);
  withFolderOptions(withJson(command), surroundings).action((flags: TenantsFlags) =>
    withMemory(surroundings, folderOf(flags), "existing", async (memory) => {
      const { stdout, signal } = surroundings;
      const tenants: TenantInfo[] = [];
      for (let more = true; more; ) {
        const after = tenants.at(-1)?.id;
        const page = await memory.listTenants({ limit: PAGE, signal, ...(after !== undefined && { after }) });
        tenants.push(...page);
        more = page.length === PAGE;
      }
      await stdout.write(flags.json ? toJsonLine(tenants) : renderTenants(tenants, stdout));
    }),
  );
}

function renderTenants(tenants: readonly TenantInfo[], output: Output): string {
  const columns = [{ title: "TENANT" }, { title: "SEGMENTS", align: "right" }, { title: "SINCE (UTC)" }] as const;
  const rows = tenants.map(({ id, segments, createdAt }) => [id, formatCount(segments), formatMinute(createdAt)]);
  return renderRows({ columns, underneath }, rows, output);
}

function underneath([, segments, since]: readonly string[]): readonly string[] {
  return [segments === "1" ? "1 segment" : `${segments} segments`, `since ${since}`];
}
