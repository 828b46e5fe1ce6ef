/** Lists the selected operations of all documents in order, each once, up to the limit of one provider. */
import { type Method, methods } from "../../../../schema/catalog/Endpoint.ts"
import { type ImportOptions, operationsMax } from "../kit/Import.ts"
import { field, isRecord } from "../kit/json.ts"
import type { References, Spot } from "../kit/reference.ts"
import type { Source } from "../kit/source.ts"
import { shown, type Warnings } from "../kit/warnings.ts"
import { anyOf } from "../kit/patterns.ts"

export interface Operation {
  readonly method: Method
  readonly path: string
  /** The path item, whose parameters and servers count for all its operations. */
  readonly item: Spot
  readonly operation: Spot
}

const pathCharactersMax = 1_000
const others = new Set(["head", "options", "trace", "query", "connect", "additionalOperations"])

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const pathProblem = (path: string): string | null => {
  if (path.length > pathCharactersMax) return `is longer than ${pathCharactersMax} characters`
  if (!path.startsWith("/")) return "doesn't start with /"
  // Sent as it stands it would end the path.
  return /[?#\s\\\p{Cc}]/u.test(path) || !path.isWellFormed() ? "holds what can't be in a path" : null
}

export const operationsOf = (
  sources: ReadonlyArray<Source>,
  references: References,
  options: Pick<ImportOptions, "include" | "exclude">,
  warnings: Warnings
): ReadonlyArray<Operation> => {
  const included = anyOf(options.include)
  const excluded = anyOf(options.exclude)
  const operations = new Map<string, Operation>()
  let beyond = 0

  const take = (item: Spot, path: string, method: Method, node: unknown): void => {
    const key = `${method} ${path}`
    if ((options.include.length > 0 && !included(key)) || excluded(key)) return
    const name = sources[item.source]?.name ?? ""
    if (!isRecord(node)) return warnings.add(shown(key), "is no operation and is left out")
    if (operations.has(key)) return warnings.add(key, `is described twice; the one in ${name} is left out`)
    if (operations.size >= operationsMax) {
      beyond++
      return
    }
    operations.set(key, { method, path, item, operation: { source: item.source, pointer: [], node } })
  }

  for (const [index, { root, version }] of sources.entries()) {
    const paths = field(root, "paths")
    if (version === null || !isRecord(paths)) continue
    for (const path of Object.keys(paths).sort(compare)) {
      if (path.startsWith("x-")) continue
      const problem = pathProblem(path)
      if (problem !== null) {
        warnings.add(shown(path), `the path ${problem} and is left out`)
        continue
      }
      const at = references.follow({ source: index, pointer: [], node: paths[path] })
      if ("problem" in at || !isRecord(at.node)) {
        warnings.add(path, `the path is left out: ${"problem" in at ? at.problem : "it is no object"}`)
        continue
      }
      for (const key of Object.keys(at.node).filter((one) => others.has(one))) {
        warnings.add(
          path,
          `${key === "additionalOperations" ? key : key.toUpperCase()} can't be called and is left out`
        )
      }
      for (const method of methods) {
        const node = field(at.node, method.toLowerCase())
        if (node !== undefined) take(at, path, method, node)
      }
    }
  }
  if (beyond > 0) warnings.add("", `${beyond} operations beyond the first ${operationsMax} are left out`)
  return [...operations.values()].sort((a, b) => compare(a.path, b.path) || compare(a.method, b.method))
}
