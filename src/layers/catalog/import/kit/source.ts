/**
 * Parses the texts of an import, with limits.
 *
 * Every text becomes a tree of limited size or a failure that names the source. The size is checked before parsing. Nesting and
 * the number of values are checked afterwards without recursion, because YAML aliases can make a small text a huge tree.
 */
import { basename } from "node:path"
import { Effect } from "effect"
import { ImportFailed, type SourceText, sourceBytesMax } from "./Import.ts"
import { field, isRecord } from "./json.ts"

/** Ten times the largest specification we know. Aliases count as often as they are used. */
const valuesMax = 5_000_000
/** The deepest specification we know has 60 levels. */
const depthMax = 500

export interface Source {
  readonly name: string
  readonly root: Readonly<Record<string, unknown>>
  /** Null for a file that only contains parts that other sources refer to. */
  readonly version: "2" | "3" | null
}

const refuse = (name: string, why: string, what: string) => new ImportFailed({ message: `${name}: ${why}. ${what}` })
const giveOpenApi = "Give an OpenAPI 2.0 (Swagger), 3.0, 3.1 or 3.2 document as JSON or YAML."

const parse = ({ name, text }: SourceText): Effect.Effect<unknown, ImportFailed> => {
  const bare = text.startsWith("\uFEFF") ? text.slice(1) : text
  const json = /^\s*[{[]/.test(bare)
  return Effect.try({
    try: (): unknown => (json ? JSON.parse(bare) : Bun.YAML.parse(bare)),
    catch: (error) => {
      const reason = error instanceof Error ? error.message.slice(0, 200) : "unreadable"
      return error instanceof RangeError
        ? refuse(name, "the document is nested too deeply", giveOpenApi)
        : refuse(name, `the text is not valid ${json ? "JSON" : "YAML"} (${reason})`, giveOpenApi)
    }
  })
}

/** Why a parsed value is too large, or null. Aliases count as often as they occur; cycles end at the limit. */
export const oversized = (root: unknown): string | null => {
  const values: Array<unknown> = [root]
  const depths: Array<number> = [0]
  let count = 0
  while (values.length > 0) {
    const value = values.pop()
    const depth = depths.pop() ?? 0
    if (typeof value !== "object" || value === null) continue
    if (depth > depthMax) return `the document is nested deeper than ${depthMax} levels`
    const children = Object.values(value)
    count += children.length
    if (count > valuesMax) return `the document holds more than ${valuesMax} values once its aliases are followed`
    for (const child of children) {
      if (typeof child !== "object" || child === null) continue
      values.push(child)
      depths.push(depth + 1)
    }
  }
  return null
}

const versionOf = (
  name: string,
  root: Readonly<Record<string, unknown>>
): Effect.Effect<"2" | "3" | null, ImportFailed> => {
  const swagger = field(root, "swagger")
  const openapi = field(root, "openapi")
  const holdsOperations = isRecord(field(root, "paths")) || isRecord(field(root, "webhooks"))
  const declared = String(openapi ?? swagger ?? "")
  if (/^2(\.|$)/.test(declared)) return Effect.succeed(holdsOperations ? "2" : null)
  if (/^3(\.|$)/.test(declared)) return Effect.succeed(holdsOperations ? "3" : null)
  if (openapi !== undefined || swagger !== undefined) {
    return Effect.fail(
      refuse(name, `version ${declared.slice(0, 20)} of the specification is not supported`, giveOpenApi)
    )
  }
  if (!holdsOperations) return Effect.succeed(null)
  // Some hand-written documents lack the version. Only version 2 has `definitions`.
  return Effect.succeed(isRecord(field(root, "definitions")) ? "2" : "3")
}

/** Whether another source refers to this file, which then may contain only parts. */
const isNamedBy = (name: string, others: ReadonlyArray<SourceText>): boolean =>
  others.some((other) => other.name !== name && other.text.includes(basename(name)))

export const readSources = Effect.fnUntraced(function* (texts: ReadonlyArray<SourceText>) {
  if (texts.length === 0) return yield* new ImportFailed({ message: `There is no document to import. ${giveOpenApi}` })
  const sources: Array<Source> = []
  let bytes = 0
  for (const text of texts) {
    bytes += Buffer.byteLength(text.text)
    if (bytes > sourceBytesMax) {
      return yield* refuse(text.name, `the text is larger than ${sourceBytesMax} bytes`, "Split it by path.")
    }
    const root = yield* parse(text)
    if (!isRecord(root))
      return yield* refuse(text.name, "this is not an OpenAPI document: it is not an object", giveOpenApi)
    const problem = oversized(root)
    if (problem !== null) return yield* refuse(text.name, problem, giveOpenApi)
    const version = yield* versionOf(text.name, root)
    if (version === null && !isNamedBy(text.name, texts)) {
      return yield* refuse(text.name, "this is not an OpenAPI document: it has no `paths`", giveOpenApi)
    }
    sources.push({ name: text.name, root, version })
    yield* Effect.sleep(0)
  }
  return sources
})
