/**
 * Patterns over `METHOD /path`, in which `*` stands for anything, also for nothing.
 *
 * Matched piece by piece from the left, in linear time: no pattern can make an import hang.
 */
export const patternFor = (pattern: string): ((text: string) => boolean) => {
  const [first = "", ...rest] = pattern.split("*")
  const last = rest.pop()
  if (last === undefined) return (text) => text === pattern
  return (text) => {
    if (!text.startsWith(first)) return false
    let from = first.length
    for (const piece of rest) {
      const index = text.indexOf(piece, from)
      if (index < 0) return false
      from = index + piece.length
    }
    return text.length - last.length >= from && text.endsWith(last)
  }
}

/** Whether any of them matches. */
export const anyOf = (patterns: ReadonlyArray<string>): ((text: string) => boolean) => {
  const all = patterns.map(patternFor)
  return (text) => all.some((matches) => matches(text))
}
