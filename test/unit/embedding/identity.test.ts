import { describe, expect, it } from "vitest";
import { canonicalEndpoint } from "../../../src/embedding/endpoint.ts";
import {
  differsOnlyInEndpoint,
  type EmbedderIdentity,
  identityHash,
  identityText,
} from "../../../src/embedding/identity.ts";
import type { IdentityValue } from "../../../src/embedding/identity-options.ts";
import { isHoldfastError } from "../../../src/errors/index.ts";

const base: EmbedderIdentity = {
  provider: "openai",
  model: "text-embedding-3-small",
  revision: "1",
  requestedDimensions: 512,
  endpoint: "https://api.example.com/v1",
  normalization: "unit",
  templates: { document: "passage: {text}", query: "query: {text}" },
  options: { pooling: "mean", layers: [1, 2] },
};

function text(change: Partial<EmbedderIdentity> = {}, dimensions = 512): string {
  return identityText({ identity: { ...base, ...change }, dimensions });
}

function refusal(options: Readonly<Record<string, IdentityValue>>): unknown {
  try {
    text({ options });
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("the identity of an embedding space", () => {
  it("[M1] is pinned, so that a release cannot lose the spaces of an earlier one", () => {
    expect(text()).toBe(
      '{"version":1,"provider":"openai","model":"text-embedding-3-small","revision":"1","requestedDimensions":512,' +
        '"dimensions":512,"endpoint":"api.example.com","normalization":"unit","documentTemplate":"passage: {text}",' +
        '"queryTemplate":"query: {text}","options":{"layers":[1,2],"pooling":"mean"}}',
    );
    expect(identityHash(text())).toBe("33f2a6c9415f68cc");
  });

  it("[M1] changes with everything that changes a vector", () => {
    const others = [
      text({ provider: "azure" }),
      text({ model: "text-embedding-3-large" }),
      text({ revision: "2" }),
      text({ requestedDimensions: 256 }),
      text({}, 1536),
      text({ endpoint: "https://api.example.org/v1" }),
      text({ endpoint: "https://api.example.com:8443/v1" }),
      text({ normalization: "none" }),
      text({ templates: { document: "passage: {text}" } }),
      text({ templates: { document: "query: {text}", query: "passage: {text}" } }),
      text({ options: { pooling: "cls", layers: [1, 2] } }),
      text({ options: { pooling: "mean", layers: [2, 1] } }),
      text({ options: { pooling: "mean" } }),
    ];
    expect(new Set([text(), ...others]).size).toBe(others.length + 1);
    expect(new Set([text(), ...others].map(identityHash)).size).toBe(others.length + 1);
  });

  it("[M1] does not change with the order of options, absent values or another spelling of one endpoint", () => {
    const same = [
      text({ options: { layers: [1, 2], pooling: "mean" } }),
      text({ options: { layers: [1, 2], pooling: "mean", prefix: null } }),
      text({ options: { layers: [1, 2], pooling: "mean", prefix: undefined as unknown as null } }),
      text({ endpoint: "HTTPS://API.Example.com:443" }),
      text({ endpoint: "http://api.example.com:80/v1/" }),
      text({ endpoint: "https://user:pass@api.example.com./v1/?api-key=abc#x" }),
      text({ endpoint: " api.example.com " }),
    ];
    expect(new Set([text(), ...same]).size).toBe(1);
  });

  it("[M1] treats absent, null and undefined as one state", () => {
    const bare = { provider: "p", model: "m" };
    const padded = {
      ...bare,
      revision: null,
      endpoint: undefined,
      templates: {},
      options: {},
    } as unknown as EmbedderIdentity;
    expect(identityText({ identity: padded, dimensions: 3 })).toBe(identityText({ identity: bare, dimensions: 3 }));
  });

  it.each([
    "apiKey",
    "api_key",
    "APIKEY",
    "X-API-Key",
    "key",
    "token",
    "accessToken",
    "access_token",
    "authtoken",
    "clientSecret",
    "password",
    "dbPasswd",
    "Authorization",
    "bearer",
    "credentials",
    "sessionToken",
    "cookie",
    "oauthState",
    "HFToken",
  ])("[M1] refuses the option %s, naming it and never its value", (name) => {
    const error = refusal({ nested: { [name]: "v4lue-of-it" } });
    expect(isHoldfastError(error, "INVALID_ARGUMENT")).toBe(true);
    expect(String(error)).toContain(name);
    expect(JSON.stringify(error)).not.toContain("v4lue");
  });

  it.each([
    "maxTokens",
    "tokenizer",
    "tokenLimit",
    "keyphrase",
    "monkey",
    "author",
    "passage",
    "secretary",
    "basicPooling",
  ])("[M1] takes the option %s, which is no secret", (name) => {
    expect(text({ options: { [name]: 7 } })).toContain(`"${name}":7`);
  });

  it.each([
    "sk-abcdefghij0123456789",
    "Bearer abc",
    "hf_abcdefghijklmnopqrst",
    "eyJhbGciOi.eyJzdWIi.sig",
    "AKIAABCDEFGHIJKLMNOPQ",
  ])("[M1] refuses the value %s, which is a key in the form of a known service", (value) => {
    const error = refusal({ harmless: ["x", value] });
    expect(isHoldfastError(error, "INVALID_ARGUMENT")).toBe(true);
    expect(JSON.stringify(error)).not.toContain(value);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1n, new Date(0), () => 1, Symbol("s"), [undefined]])(
    "[M1] refuses %s as an option, which has no canonical form",
    (value) => {
      expect(isHoldfastError(refusal({ value: value as never }), "INVALID_ARGUMENT")).toBe(true);
    },
  );

  it("[M1] refuses options that contain themselves", () => {
    const loop: Record<string, IdentityValue> = {};
    loop.loop = loop;
    expect(isHoldfastError(refusal(loop), "INVALID_ARGUMENT")).toBe(true);
  });

  it("[M1] refuses an identity without names or with dimensions that are none", () => {
    const bad = [
      () => text({ provider: " " }),
      () => text({ model: undefined as never }),
      () => text({}, 0),
      () => text({}, 1.5),
      () => text({ requestedDimensions: -1 }),
      () => text({ normalization: "l2" as never }),
      () => text({ endpoint: "ftp://host" }),
    ];
    for (const make of bad) expect(make).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });

  it("[M2] tells an identity that differs only in its endpoint from one that differs elsewhere", () => {
    expect(differsOnlyInEndpoint(text(), text({ endpoint: "other.example.com" }))).toBe(true);
    expect(differsOnlyInEndpoint(text(), text())).toBe(false);
    expect(differsOnlyInEndpoint(text(), text({ endpoint: "other.example.com", model: "x" }))).toBe(false);
  });
});

describe("an endpoint", () => {
  it.each([
    ["localhost:11434", "localhost:11434"],
    ["http://localhost:11434/api/embed", "localhost:11434"],
    ["http://[::1]:80/", "[::1]"],
    ["[::1]:8080", "[::1]:8080"],
    ["https://host:80", "host:80"],
    ["host:80/v1", "host"],
    ["host:443", "host"],
    ["https://bücher.example", "xn--bcher-kva.example"],
  ])("[M1] %s is written %s", (endpoint, canonical) => {
    expect(canonicalEndpoint(endpoint)).toBe(canonical);
  });

  it.each(["", "https://", "file:///x", "ws://host", "a b", "https://user:hunter2@ho st"])(
    "[M1] %j is refused without being repeated",
    (endpoint) => {
      expect(() => canonicalEndpoint(endpoint)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
      expect(() => canonicalEndpoint(endpoint)).not.toThrow(/hunter2/);
    },
  );
});
