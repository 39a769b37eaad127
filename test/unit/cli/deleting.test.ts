import { expect, it } from "vitest";
import { type Bed, bed } from "./command-bed.ts";

async function seeded(given: Bed): Promise<Bed> {
  for (const tenant of ["acme", "globex"])
    for (const [session, id] of [
      ["s", "1"],
      ["s", "2"],
      ["t", "3"],
    ] as const)
      await given.cli("remember", `event ${id}`, "--session", session, "--id", id, "--tenant", tenant);
  return given;
}

const eventsOf = async ({ cli }: Bed, tenant: string): Promise<unknown> => {
  const { code, out, err } = await cli("stats", "--tenant", tenant, "--json");
  return code === 0 ? (JSON.parse(out) as { readonly events: number }).events : err;
};

it("[S11] delete-session takes a session of one tenant with its events, and says when there was none", async () => {
  const given = await seeded(bed());
  const gone = ["delete-session", "s", "--tenant", "acme", "--yes"];
  expect(await given.cli(...gone, "--erase")).toEqual({ code: 0, out: 'Deleted session "s"\n', err: "" });
  expect(await given.cli(...gone)).toEqual({ code: 0, out: 'There is no session "s"\n', err: "" });
  expect([await eventsOf(given, "acme"), await eventsOf(given, "globex")]).toEqual([1, 3]);
  expect(JSON.parse((await given.cli("delete-session", "t", "--tenant", "acme", "--yes", "--json")).out)).toEqual({
    deleted: true,
  });
});

it("[S10] delete-tenant takes a tenant's whole memory and no other's", async () => {
  const given = await seeded(bed());
  expect((await given.cli("delete-tenant", "acme", "--yes")).out).toBe('Deleted tenant "acme"\n');
  expect(await eventsOf(given, "acme")).toMatch(/^error: NOT_FOUND: /);
  expect(await eventsOf(given, "globex")).toBe(3);
  expect((await given.cli("delete-tenant", "acme", "--yes")).out).toBe('There is no tenant "acme"\n');
  expect((await given.cli("tenants")).out).not.toContain("acme");
});

it("both ask with the count first, only yes is yes, and where nobody can be asked nothing is deleted", async () => {
  const mute = await seeded(bed());
  for (const args of [
    ["delete-session", "s", "--tenant", "acme"],
    ["delete-tenant", "acme"],
  ])
    expect(await mute.cli(...args)).toMatchObject({ code: 2, out: "", err: expect.stringContaining("--yes") });
  expect(await eventsOf(mute, "acme")).toBe(3);

  const [questions, answers] = [[] as string[], ["", "Y", "no", "yes"]];
  const given = await seeded(
    bed(async (question) => {
      questions.push(question);
      return answers.shift() ?? "";
    }),
  );
  const run = async (...args: readonly string[]) => (await given.cli(...args)).out;
  expect(await run("delete-session", "t", "--tenant", "acme")).toBe("");
  expect(await run("delete-session", "t", "--tenant", "acme")).toBe('Deleted session "t"\n');
  expect(await run("delete-tenant", "acme")).toBe("");
  expect(await run("delete-tenant", "acme")).toBe('Deleted tenant "acme"\n');
  expect(questions).toEqual([
    'Delete session "t" with 1 event? [y/N] ',
    'Delete session "t" with 1 event? [y/N] ',
    'Delete tenant "acme" with 2 events? [y/N] ',
    'Delete tenant "acme" with 2 events? [y/N] ',
  ]);
});
