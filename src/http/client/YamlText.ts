/**
 * The text of a configuration file: YAML, and so also JSON. The command and the console read and write it, and the service takes what it holds.
 *
 * Anchors and aliases, with which a few lines expand to gigabytes, are refused, and so are a field that is there twice and a file above the limit.
 */
import { isNode, isScalar, LineCounter, type Node, parseDocument, stringify, visit } from "yaml"

/** The service takes bodies of this size. */
const bytesMax = 1024 * 1024

/** What is wrong, as the end of a sentence that begins with the file's name. */
export class NotConfiguration extends Error {}

export interface YamlText {
  readonly value: ReturnType<typeof JSON.parse>
  /** The line of what has this path, or of the nearest thing around it. */
  readonly lineOf: (path: ReadonlyArray<string>) => number
}

/** Throws `NotConfiguration`. */
export const parsedYaml = (text: string): YamlText => {
  if (new TextEncoder().encode(text).length > bytesMax) throw new NotConfiguration("is larger than 1 MiB")
  const counter = new LineCounter()
  const lineAt = ({ range }: Node) => counter.linePos(range?.[0] ?? 0).line
  const document = parseDocument(text, {
    lineCounter: counter,
    uniqueKeys: false,
    prettyErrors: false,
    stringKeys: true
  })
  const [wrong] = [...document.errors, ...document.warnings]
  if (wrong !== undefined)
    throw new NotConfiguration(`is not valid YAML at line ${counter.linePos(wrong.pos[0]).line}: ${wrong.message}`)
  visit(document, {
    Alias: (_, alias) => {
      throw new NotConfiguration(`has an alias at line ${lineAt(alias)}, which is not supported; write it out`)
    },
    Map: (_, { items }) => {
      const names = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (names.has(key.value))
          throw new NotConfiguration(`has ${String(key.value)} for the second time at line ${lineAt(key)}`)
        names.add(key.value)
      }
    }
  })
  return {
    value: document.toJS(),
    lineOf: (path) => {
      const nodes = path.map((_, n) => document.getIn(path.slice(0, path.length - n), true))
      const nearest = nodes.find((node) => isNode(node))
      return isNode(nearest) ? lineAt(nearest) : 1
    }
  }
}

export const yamlText = (value: unknown): string => stringify(value, { lineWidth: 0 })

const pathIn = (path: ReadonlyArray<string>): string =>
  path.reduce((text, name) => (/^\d+$/.test(name) ? `${text}[${name}]` : text === "" ? name : `${text}.${name}`), "")

/** What an error of the service says of the file, by line: `keys[2].budget.limit: must be …`. */
export const faultsIn = (
  { lineOf }: Pick<YamlText, "lineOf">,
  details: ReadonlyArray<{ readonly path: string; readonly message: string }>
) =>
  details.flatMap(({ path, message }) => {
    const [root, ...inside] = path.split(".")
    return root !== "configuration" || inside.length === 0
      ? []
      : [{ line: lineOf(inside), fault: `${pathIn(inside)}: ${message}` }]
  })
