/** Finds a name that occurs twice in one object of a JSON text. Parsers disagree on which of the two values counts. */
import { stringEnd } from "./JsonText.ts"

interface Open {
  /** Null for a list. */
  readonly names: Set<string> | null
  /** The current name or index. */
  at: string | number
}

const quote = '"'

/** Notes the name of the current member. False if the object has this name already. */
const isNew = (top: Open | undefined, text: string): boolean => {
  const name: unknown = text.includes("\\") ? JSON.parse(text) : text.slice(1, -1)
  if (top === undefined || top.names === null || typeof name !== "string") return true
  top.at = name
  if (top.names.has(name)) return false
  top.names.add(name)
  return true
}

/** The dotted path of the first name that occurs twice, or null. `json` must be valid JSON. */
export const doubledName = (json: string): string | null => {
  const open: Array<Open> = []
  let text = ""
  for (let at = 0; at < json.length; at += 1) {
    const top = open.at(-1)
    const character = json[at]
    if (character === quote) {
      const end = stringEnd(json, at)
      text = json.slice(at, end)
      at = end - 1
    } else if (character === "{") open.push({ names: new Set(), at: "" })
    else if (character === "[") open.push({ names: null, at: 0 })
    else if (character === "}" || character === "]") open.pop()
    else if (character === "," && top !== undefined && typeof top.at === "number") top.at += 1
    else if (character === ":" && !isNew(top, text)) return open.map((one) => one.at).join(".")
  }
  return null
}
