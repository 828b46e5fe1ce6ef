/**
 * Makes a short text that a simple pattern accepts, for examples: `^AC[0-9a-f]{32}$` gives `AC000…`.
 *
 * Best effort for literals, classes, groups and counts. The caller validates the result.
 */

const charactersMax = 200
const depthMax = 10

interface Read {
  readonly text: string
  readonly next: number
}

const escapes: Readonly<Record<string, string>> = {
  d: "1",
  w: "a",
  s: " ",
  D: "a",
  W: "-",
  S: "a",
  t: "\t",
  n: "\n",
  b: "",
  B: ""
}

const escaped = (pattern: string, at: number): Read => {
  const letter = pattern[at] ?? ""
  if (letter === "u" || letter === "x") {
    const digits = pattern.slice(at + 1, at + (letter === "u" ? 5 : 3))
    if (/^[\da-f]+$/i.test(digits))
      return { text: String.fromCharCode(Number.parseInt(digits, 16)), next: at + 1 + digits.length }
  }
  return { text: Object.hasOwn(escapes, letter) ? (escapes[letter] ?? "") : letter, next: at + 1 }
}

/** The first member of `[…]`; of `[^…]` the first ordinary character that is not in it. */
const fromClass = (pattern: string, start: number): Read | null => {
  const negated = pattern[start] === "^"
  let at = negated ? start + 1 : start
  const from = at
  let first: string | null = null
  while (at < pattern.length && (pattern[at] !== "]" || at === from)) {
    const read: Read = pattern[at] === "\\" ? escaped(pattern, at + 1) : { text: pattern[at] ?? "", next: at + 1 }
    first ??= read.text
    at = read.next
  }
  if (at >= pattern.length || first === null) return null
  const members = pattern.slice(from, at)
  const other = ["a", "0", "-", "A", "z"].find((one) => {
    try {
      return new RegExp(`^[^${members}]$`).test(one)
    } catch {
      return false
    }
  })
  const text = negated ? other : first
  return text === undefined ? null : { text, next: at + 1 }
}

/** How often what stands before is repeated: as seldom as allowed, but once where that is free. */
const count = (pattern: string, at: number): { readonly times: number; readonly next: number } => {
  const sign = pattern[at]
  const braces = sign === "{" ? /^\{(\d{1,4})(,\d{0,4})?\}/.exec(pattern.slice(at, at + 12)) : null
  const lazy = (next: number) => (pattern[next] === "?" ? next + 1 : next)
  if (braces !== null)
    return { times: Math.max(Number(braces[1]), braces[2] === undefined ? 0 : 1), next: lazy(at + braces[0].length) }
  if (sign === "*" || sign === "+") return { times: 1, next: lazy(at + 1) }
  return sign === "?" ? { times: 0, next: lazy(at + 1) } : { times: 1, next: at }
}

/** The first alternative from here to its `)` or the end. */
const sequence = (pattern: string, start: number, depth: number): Read | null => {
  let text = ""
  let at = start
  let taken: string | null = null
  while (at < pattern.length) {
    const character = pattern[at] ?? ""
    if (character === ")") break
    if (character === "|") {
      taken ??= text
      text = ""
      at++
      continue
    }
    if (character === "^" || character === "$") {
      at++
      continue
    }
    const read = atom(pattern, at, depth)
    if (read === null) return null
    const { times, next } = count(pattern, read.next)
    if (text.length + read.text.length * times > charactersMax) return null
    text += read.text.repeat(times)
    at = next
  }
  return { text: taken ?? text, next: at }
}

const atom = (pattern: string, at: number, depth: number): Read | null => {
  const character = pattern[at] ?? ""
  if (character === "\\") return escaped(pattern, at + 1)
  if (character === "[") return fromClass(pattern, at + 1)
  if (character === ".") return { text: "a", next: at + 1 }
  if (character !== "(") return { text: character, next: at + 1 }
  if (depth >= depthMax) return null
  const opening = /^\((\?:|\?P?<[A-Za-z]\w{0,30}>)?/.exec(pattern.slice(at, at + 40))?.[0] ?? "("
  const inner = sequence(pattern, at + opening.length, depth + 1)
  return inner === null || pattern[inner.next] !== ")" ? null : { text: inner.text, next: inner.next + 1 }
}

export const patternSample = (pattern: string): string | null => sequence(pattern, 0, 0)?.text ?? null
