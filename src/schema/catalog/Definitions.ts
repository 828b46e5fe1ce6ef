/**
 * Finds the shared schemas of a provider's document that a schema refers to, directly or through others.
 *
 * Each endpoint is shown, compared and validated with exactly these schemas. References may form cycles.
 */

const prefix = "#/$defs/"

const collect = (node: unknown, names: Set<string>): void => {
  if (Array.isArray(node)) {
    for (const child of node) collect(child, names)
    return
  }
  if (typeof node !== "object" || node === null) return
  for (const [key, child] of Object.entries(node)) {
    if (key === "$ref" && typeof child === "string" && child.startsWith(prefix)) names.add(child.slice(prefix.length))
    else collect(child, names)
  }
}

/** The definitions that these schemas refer to, directly or through other definitions, in alphabetical order. */
export const reachable = <T>(
  definitions: Readonly<Record<string, T>>,
  schemas: ReadonlyArray<unknown>
): Readonly<Record<string, T>> => {
  const reached = new Map<string, T>()
  const names = new Set<string>()
  collect(schemas, names)
  // The iteration of a Set includes the names that are added meanwhile.
  for (const name of names) {
    const definition = Object.hasOwn(definitions, name) ? definitions[name] : undefined
    if (definition === undefined) continue
    reached.set(name, definition)
    collect(definition, names)
  }
  return Object.fromEntries([...reached].sort(([a], [b]) => (a < b ? -1 : 1)))
}
