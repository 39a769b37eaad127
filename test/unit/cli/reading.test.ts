import { expect, it } from "vitest";
import { displayWidth } from "../../../src/cli/text/width.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { type Bed, bed, terminal } from "./command-bed.ts";

async function seeded(given: Bed): Promise<Bed> {
  for (const [session, id, text, ...flags] of [
    ["s", "a1", "green bicycle", "--user", "alice", "--property", "topic=things"],
    ["s", "a2", "red bicycle", "--user", "alice", "--role", "user"],
    ["t", "b1", "blue boat", "--kind", "fact"],
  ] as const)
    await given.cli("remember", text, "--session", session, "--id", id, "--at", "2026-05-01", ...flags);
  return given;
}

it("list shows events by time with where they belong, and names the next page", async () => {
  const { cli } = await seeded(bed());
  const first = await cli("list", "--limit", "2");
  expect(first.out).toBe(
    "someone, 2026-05-01 00:00 UTC\n    green bicycle\n    session s (alice) · event a1 · m.topic = 'things'\n" +
      "\nuser, 2026-05-01 00:00 UTC\n    red bicycle\n    session s (alice) · event a2\n",
  );
  const [, cursor = ""] = /^There are more: add --after (\S+)\n$/.exec(first.err) ?? [];
  const second = await cli("list", "--limit", "2", "--after", cursor);
  expect(second).toEqual({
    code: 0,
    out: "someone, 2026-05-01 00:00 UTC\n    blue boat\n    session t · event b1 · kind fact\n",
    err: "",
  });
  const chosen = JSON.parse((await cli("list", "--user", "alice", "--where", "m.topic = 'things'", "--json")).out);
  expect(chosen.events.map(({ id }: { readonly id: string }) => id)).toEqual(["a1"]);
  expect((await cli("list", "--where", "kind = 'none'")).out).toBe("Nothing found.\n");
  expect(await cli("list", "--session", "nowhere")).toMatchObject({ code: 1, out: "" });
});

it("get shows one event with all its fields, and an unknown one is an error", async () => {
  const { cli } = await seeded(bed());
  await cli("update", "a1", "yellow bicycle", "--property", "wheel size:=28");
  const { out } = await cli("get", "a1");
  expect(out).toMatch(/^event {4}a1\nsession {2}s\nuser {5}alice\nat {7}2026-05-01T00:00:00\.000000Z\nrevision 2\n/);
  expect(out).toMatch(/\nproperty m\.topic = 'things'\nproperty m\."wheel size" = 28\n\nyellow bicycle\n$/);
  expect(JSON.parse((await cli("get", "a1", "--json")).out)).toMatchObject({ id: "a1", revision: 2 });
  expect(await cli("get", "zz")).toEqual({
    code: 1,
    out: "",
    err: 'error: NOT_FOUND: There is no event "zz"; "holdfast list" shows which there are.\n',
  });
});

it("[S14] changes are shown in order and go on behind a cursor", async () => {
  const { cli } = await seeded(bed());
  await cli("update", "a1", "yellow bicycle");
  await cli("forget", "b1");
  const kinds = (out: string) =>
    [...out.matchAll(/^\S+ \S+ {2}(\S+) +(\S.*)$/gm)].map(([, kind, rest]) => [kind, rest]);
  const { out, err } = await cli("changes", "--limit", "3");
  expect(kinds(out)).toEqual([
    ["session-created", "s"],
    ["written", "s        a1 (revision 1)"],
    ["written", "s        a2 (revision 1)"],
  ]);
  const [, cursor = ""] = /^There are more: add --after (\S+)\n$/.exec(err) ?? [];
  const rest = await cli("changes", "--after", cursor);
  expect(kinds(rest.out)).toEqual([
    ["session-created", "t"],
    ["written", "t        b1 (revision 1)"],
    ["changed", "s        a1 (revision 2)"],
    ["forgotten", "t        b1"],
  ]);
  const [, end = ""] = /^To go on later: add --after (\S+)\n$/.exec(rest.err) ?? [];
  expect((await cli("changes", "--after", end)).out).toBe("Nothing changed.\n");
  const own = JSON.parse((await cli("changes", "--session", "t", "--json")).out);
  expect(own.changes.map(({ kind }: { readonly kind: string }) => kind)).toEqual([
    "session-created",
    "written",
    "forgotten",
  ]);
  expect((await cli("changes", "--after", "nonsense")).err).toMatch(/^error: INVALID_ARGUMENT: /);
});

it("[S7] pending lists what the embedder failed on, and why", async () => {
  const down = () => Promise.reject(Object.assign(new Error("down"), { status: 503 }));
  const { cli } = bed(undefined, undefined, { ...createHashEmbedder(), embed: down });
  expect((await cli("remember", "green bicycle", "--session", "s", "--id", "e1")).out).toMatch(/not embedded yet/);
  const { out } = await cli("pending");
  expect(out).toMatch(
    /^EVENT {2}SESSION {2}STATE +NEXT TRY \(UTC\) +REASON\ne1 +s +waiting +\S+ \S+ {2}EMBEDDING_FAILED, status 503\n$/,
  );
  expect((await cli("pending", "--parked")).out).toBe("Nothing is pending.\n");
  await cli("remember", "red bicycle", "--session", "t", "--id", "e2");
  expect((await cli("pending", "--session", "t")).out).toMatch(/\ne2 +t +waiting .*\n$/);
  expect((await cli("embed", "--session", "t")).out).toMatch(/^0 embedded, 1 waiting, 0 parked /);
  expect(JSON.parse((await cli("pending", "--json")).out)).toMatchObject({
    segments: [{ event: "e1", session: "s" }, { event: "e2" }],
  });
});

it("on a narrow terminal rows stand one under the other, their first cell whole", async () => {
  const given = await seeded(bed(undefined, terminal(34)));
  const { out } = await given.cli("changes", "--session", "t");
  expect(out).toMatch(/^\S+ \S+\n {2}session-created · t\n\S+ \S+\n {2}written · t · b1 \(revision 1\)\n$/);
  expect((await given.cli("sessions")).out).toMatch(/\nt\n {2}1 event · 2026-05-01 00:00 to\n/);
  for (const args of [["list"], ["get", "a1"], ["stats"]])
    for (const line of (await given.cli(...args)).out.split("\n")) expect(displayWidth(line)).toBeLessThanOrEqual(34);
});

it("[S4] a property's type is the one that was written: text behind =, JSON behind :=", async () => {
  const { cli } = bed();
  const pairs = [
    "zip=1010",
    "year:=2026",
    "open:=true",
    "big:=9007199254740993",
    'due:={"$datetime":"2026-05-01T12:00:00Z"}',
  ];
  const flags = pairs.flatMap((pair) => ["--property", pair]);
  expect((await cli("remember", "a fair", "--session", "s", "--id", "e", ...flags)).code).toBe(0);
  for (const [where, found] of [
    ["m.zip = '1010' AND m.year = 2026 AND m.open = true", true],
    ["m.big = 9007199254740993 AND m.due < timestamp '2026-05-01T12:00:01Z'", true],
    ["m.zip = 1010 OR m.year = '2026' OR m.big = 9007199254740992", false],
  ] as const)
    expect([where, (await cli("list", "--where", where)).out !== "Nothing found.\n"]).toEqual([where, found]);
  for (const pair of ["year:=", "year:=20 26", 'x:={"a":1}', "x:=[1]", ":=1", "=1", "plain", "x:=null"]) {
    const { code, err } = await cli("remember", "x", "--session", "s", "--property", pair);
    expect([pair, code]).toEqual([pair, 2]);
    expect(err).toMatch(/is invalid\. (Give key=text, or key:=json\.|Behind := stands a JSON value: )/);
  }
});
