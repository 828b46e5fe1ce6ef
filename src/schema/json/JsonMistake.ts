/**
 * Finds where a text stops being JSON (RFC 8259), because `JSON.parse` of this runtime does not say where.
 *
 * Call it only after `JSON.parse` has failed. It recurses once per level, so check the nesting first (JsonScan.ts).
 */

export interface JsonMistake {
  /** Both count from 1; a column is one character. */
  readonly line: number
  readonly column: number
  /** What valid JSON would have there, such as `a value`. */
  readonly expected: string
}

/** Sticky: it matches at `lastIndex` only. Strings are scanned without a pattern, which would take a second per megabyte. */
const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const escape = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

const quote = 0x22
const backslash = 0x5c
const spaces = new Set([0x20, 0x09, 0x0a, 0x0d])

class Unexpected {
  readonly at: number
  readonly expected: string
  constructor(at: number, expected: string) {
    this.at = at
    this.expected = expected
  }
}

/** The end of a match at `at`, or null. */
const endOf = (pattern: RegExp, text: string, at: number): number | null => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : null
}

const skipped = (text: string, from: number): number => {
  let at = from
  while (spaces.has(text.charCodeAt(at))) at += 1
  return at
}

const stringEnd = (text: string, from: number): number | Unexpected => {
  let at = from + 1
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === quote) return at + 1
    if (code < 0x20) return new Unexpected(at, "an escaped control character, such as \\n")
    if (code !== backslash) at += 1
    else {
      const end = endOf(escape, text, at)
      if (end === null) return new Unexpected(at, "a valid escape")
      at = end
    }
  }
  return new Unexpected(at, 'the closing " of a string')
}

/** The position after an object or list that opens at `open`. */
const containerEnd = (text: string, open: number, close: "}" | "]"): number | Unexpected => {
  let at = skipped(text, open + 1)
  if (text[at] === close) return at + 1
  for (;;) {
    if (close === "}") {
      if (text[at] !== '"') return new Unexpected(at, "a field name in double quotes")
      const name = stringEnd(text, at)
      if (name instanceof Unexpected) return name
      at = skipped(text, name)
      if (text[at] !== ":") return new Unexpected(at, "a colon")
      at = skipped(text, at + 1)
    }
    const end = valueEnd(text, at)
    if (end instanceof Unexpected) return end
    at = skipped(text, end)
    if (text[at] === close) return at + 1
    if (text[at] !== ",") return new Unexpected(at, `a comma or ${close}`)
    at = skipped(text, at + 1)
  }
}

const valueEnd = (text: string, at: number): number | Unexpected => {
  const first = text[at]
  if (first === "{") return containerEnd(text, at, "}")
  if (first === "[") return containerEnd(text, at, "]")
  if (first === '"') return stringEnd(text, at)
  return endOf(scalar, text, at) ?? new Unexpected(at, "a value")
}

/** The first mistake of a text that is not JSON. Null if the text is JSON. */
export const jsonMistake = (text: string): JsonMistake | null => {
  const end = valueEnd(text, skipped(text, 0))
  const rest = end instanceof Unexpected ? end.at : skipped(text, end)
  if (!(end instanceof Unexpected) && rest >= text.length) return null
  const lines = text.slice(0, rest).split("\n")
  // One half of each surrogate pair is removed, so a character outside the basic plane counts as one column.
  const column = (lines.at(-1) ?? "").replace(/[\udc00-\udfff]/g, "").length + 1
  return { line: lines.length, column, expected: end instanceof Unexpected ? end.expected : "the end of the text" }
}
