/**
 * Finds a member of a JSON object in its source text.
 *
 * The text can then be forwarded exactly as the caller wrote it: numbers of any length, duplicate keys, key order and spaces.
 */

const quote = 0x22
const backslash = 0x5c
const opening = new Set([0x7b, 0x5b])
const closing = new Set([0x7d, 0x5d])

/** The end of the string that begins at `at`. */
export const stringEnd = (text: string, at: number): number => {
  for (let next = at + 1; next < text.length; next += 1) {
    const code = text.charCodeAt(next)
    if (code === backslash) next += 1
    else if (code === quote) return next + 1
  }
  return text.length
}

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

const skipSpace = (text: string, at: number): number => {
  let next = at
  while (next < text.length && isSpace(text.charCodeAt(next))) next += 1
  return next
}

/** The end of the value that begins at `at`: the comma after it, or the closing bracket of its container. */
const valueEnd = (text: string, at: number): number => {
  let depth = 0
  for (let next = at; next < text.length; ) {
    const code = text.charCodeAt(next)
    if (code === quote) {
      next = stringEnd(text, next)
      continue
    }
    if (opening.has(code)) depth += 1
    else if (depth === 0 && (code === 0x2c || closing.has(code))) return next
    else if (closing.has(code)) depth -= 1
    next += 1
  }
  return text.length
}

/**
 * The text of the member `name` of a JSON object, or null. `json` must be valid JSON. If a name occurs twice, the last one counts, as in
 * `JSON.parse`.
 */
export const memberText = (json: string, name: string): string | null => {
  let at = skipSpace(json, 0)
  if (json.charCodeAt(at) !== 0x7b) return null
  let value: string | null = null
  at = skipSpace(json, at + 1)
  while (at < json.length && json.charCodeAt(at) === quote) {
    const keyEnd = stringEnd(json, at)
    const key: unknown = JSON.parse(json.slice(at, keyEnd))
    const start = skipSpace(json, skipSpace(json, keyEnd) + 1)
    const end = valueEnd(json, start)
    if (key === name) value = json.slice(start, end).trimEnd()
    at = skipSpace(json, end)
    if (json.charCodeAt(at) === 0x2c) at = skipSpace(json, at + 1)
  }
  return value
}

/** The texts of the elements of a JSON array. Empty if `json` is not an array. `json` must be valid JSON. */
export const elementTexts = (json: string): ReadonlyArray<string> => {
  let at = skipSpace(json, 0)
  if (json.charCodeAt(at) !== 0x5b) return []
  const elements: Array<string> = []
  at = skipSpace(json, at + 1)
  while (at < json.length && json.charCodeAt(at) !== 0x5d) {
    const end = valueEnd(json, at)
    elements.push(json.slice(at, end).trimEnd())
    at = skipSpace(json, end)
    if (json.charCodeAt(at) === 0x2c) at = skipSpace(json, at + 1)
  }
  return elements
}

/**
 * A name that occurs twice in an object anywhere in `json`, or null. `json` must be valid JSON. Parsers disagree on which of the two values
 * counts, so the value that was checked may not be the one that is used.
 */
export const doubledName = (json: string): string | null => {
  /** The names of every open object; null for an open list. */
  const open: Array<Set<string> | null> = []
  let isName = false
  for (let at = 0; at < json.length; ) {
    const code = json.charCodeAt(at)
    if (code === quote) {
      const end = stringEnd(json, at)
      const names = isName ? open.at(-1) : null
      if (names !== null && names !== undefined) {
        const text = json.slice(at, end)
        const name = text.includes("\\") ? String(JSON.parse(text)) : text.slice(1, -1)
        if (names.has(name)) return name
        names.add(name)
        isName = false
      }
      at = end
      continue
    }
    if (opening.has(code)) {
      open.push(code === 0x7b ? new Set() : null)
      isName = code === 0x7b
    } else if (closing.has(code)) open.pop()
    else if (code === 0x2c) isName = (open.at(-1) ?? null) !== null
    at += 1
  }
  return null
}

/** Builds a JSON object, without members that are undefined. `texts` are JSON as the user wrote it and are inserted unchanged, so that no digit is lost. */
export const bodyOf = (members: Readonly<Record<string, unknown>>, texts: Readonly<Record<string, string>>): string => {
  const own = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [`"${name}":${JSON.stringify(value)}`]
  )
  return `{${[...own, ...Object.entries(texts).map(([name, text]) => `"${name}":${text}`)].join(",")}}`
}
