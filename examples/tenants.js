/**
 * A service with many customers: each is a tenant, and a tenant's calls reach nothing of another's.
 *
 *     node examples/tenants.js
 */
import { isHoldfastError, openMemory } from "holdfast";

const memory = await openMemory("./tenants.holdfast");
try {
  // After the first run this answers the tenants that stand.
  const acme = await memory.createTenant("acme");
  const globex = await memory.createTenant("globex");
  const ours = await acme.createSession("onboarding", { user: "lee" });
  await ours.remember({ id: "1", producer: "Lee", text: "Our contract ends in March." });
  const theirs = await globex.createSession("onboarding", { user: "kim" });
  await theirs.remember({ id: "1", producer: "Kim", text: "Our contract ends in October." });

  for (const tenant of [acme, globex]) {
    const { hits } = await tenant.recall("when does the contract end?");
    console.log(`${tenant.tenantId}: ${hits.map(({ text }) => text).join(" | ")}`);
  }

  // A request names its tenant: an unknown one is an error, never an empty answer.
  await memory.tenant("initech").catch((error) => {
    if (!isHoldfastError(error)) throw error;
    console.log(`initech: ${error.code}`);
  });

  const { deleted } = await memory.deleteTenant("globex", { erase: true });
  console.log(`globex deleted: ${deleted}; left: ${(await memory.listTenants()).map(({ id }) => id).join(", ")}`);
} finally {
  await memory.close();
}
