import { HoldfastError } from "../errors/index.ts";

/**
 * Host, and port where it is not the scheme's own, of an endpoint: two spellings of one server give
 * one text. Scheme, user, path and query are left out: they do not say whose model it is, and may hold secrets.
 *
 * @throws INVALID_ARGUMENT when it is neither an http(s) URL nor a host with an optional port
 */
export function canonicalEndpoint(endpoint: string): string {
  const url = typeof endpoint === "string" ? toUrl(endpoint.trim()) : undefined;
  if (url === undefined || url.hostname === "" || (url.protocol !== "https:" && url.protocol !== "http:")) {
    // The value is not repeated: a malformed URL may hold a password.
    const message =
      "The embedder's identity is not usable: endpoint must be an http or https URL, or a host with an optional port.";
    throw new HoldfastError("INVALID_ARGUMENT", message, { details: { field: "endpoint" } });
  }
  const host = url.hostname.replace(/\.$/u, "");
  return url.port === "" ? host : `${host}:${url.port}`;
}

function toUrl(endpoint: string): URL | undefined {
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//iu.test(endpoint);
  // A bare host may mean either scheme, so the own port of either is no port.
  const text = hasScheme ? endpoint : `https://${endpoint.replace(/^([^/]*):80(?=\/|$)/u, "$1")}`;
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
