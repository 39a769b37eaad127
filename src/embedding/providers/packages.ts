import { HoldfastError } from "../../errors/index.ts";

/**
 * Imports a package that may not be there.
 *
 * @throws PACKAGE_MISSING with the install command, when `load` does not find the package `name`
 */
export async function importPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause;
    const message = `The package ${name} is not installed; run: npm install ${name}`;
    throw new HoldfastError("PACKAGE_MISSING", message, {
      cause,
      details: { package: name, install: `npm install ${name}` },
    });
  }
}

/** Missing is this package, not one that it needs itself. */
function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  const notFound = error.code === "ERR_MODULE_NOT_FOUND" || error.code === "MODULE_NOT_FOUND";
  return notFound && error.message.includes(`'${name}'`);
}
