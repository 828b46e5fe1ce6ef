/** Finds a name that occurs twice in one object of a JSON text. Parsers disagree on which of the two values counts. */
import { stringEnd } from "./JsonText.ts"

interface Open {
  /** Null for a list. */
  readonly names: Set<string> | null
  /** The member or the index that is read. */
  at: string | number
}

const quote = '"'

/** Names the member that is read; false when the object has one of this name already. */
const isNew = (top: Open | undefined, text: string): boolean => {
  const name: unknown = text.includes("\\") ? JSON.parse(text) : text.slice(1, -1)
  if (top === undefined || top.names === null || typeof name !== "string") return true
  top.at = name
  if (top.names.has(name)) return false
  top.names.add(name)
  return true
}

/** The dotted path of the first doubled name, or null. `json` must be valid, as something has parsed it before. */
export const doubledName = (json: string): string | null => {
  const open: Array<Open> = []
  let text = ""
  for (let at = 0; at < json.length; at += 1) {
    const top = open.at(-1)
    const found = json[at]
    if (found === quote) {
      const end = stringEnd(json, at)
      text = json.slice(at, end)
      at = end - 1
    } else if (found === "{") open.push({ names: new Set(), at: "" })
    else if (found === "[") open.push({ names: null, at: 0 })
    else if (found === "}" || found === "]") open.pop()
    else if (found === "," && top !== undefined && typeof top.at === "number") top.at += 1
    else if (found === ":" && !isNew(top, text)) return open.map((one) => one.at).join(".")
  }
  return null
}
