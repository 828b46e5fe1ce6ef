/**
 * A fault as a change of the source text, and what identifies it after lines have moved: file, text of the line, and before → after.
 */

/** Replaces the text from `start` to `end` (UTF-16 offsets). */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
  /** Whether it is part of a statement of SQL. */
  readonly sql?: true
}

export interface Mutant extends Edit {
  readonly file: string
  readonly line: number
  /** The line without the spaces around it. */
  readonly source: string
  /** `before → after`. A second one of the same kind on a line ends with ` (2)`. */
  readonly mutation: string
}

/** Above this a constant is a limit or a unit, and one more or less of it is no fault that anybody would see. */
const smallMax = 100
/** Other values for a constant. */
export const constants = (raw: string): ReadonlyArray<string> => {
  const value = Number(raw.replace(/[_n]/g, ""))
  const near = value < smallMax ? [value + 1, ...(value > 0 ? [value - 1] : [])] : [value * 10]
  return near.map((other) => `${other}${raw.endsWith("n") ? "n" : ""}`)
}

const mutationMax = 100
const short = (text: string) => {
  const flat = text.replace(/\s+/g, " ").trim()
  if (flat === "" || flat === "{}") return "nothing"
  return flat.length <= mutationMax ? flat : `${flat.slice(0, mutationMax - 1)}…`
}

/** Names the edits of a file, in the order of its text. Of two edits that make the same text, one is kept. */
export const named = (file: string, source: string, edits: ReadonlyArray<Edit>): ReadonlyArray<Mutant> => {
  const seen = new Set<string>()
  const count = new Map<string, number>()
  const lines = source.split("\n")
  const starts = lines.reduce<Array<number>>((all, line) => [...all, (all.at(-1) ?? 0) + line.length + 1], [0])
  const mutants: Array<Mutant> = []
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end || (a.text < b.text ? -1 : 1))) {
    const key = `${edit.start} ${edit.end} ${edit.text}`
    const before = source.slice(edit.start, edit.end)
    if (seen.has(key) || before === edit.text) continue
    seen.add(key)
    // Leading spaces and line ends belong to no line of the fault.
    const first = edit.start + (before.length - before.trimStart().length) * (before.trim() === "" ? 0 : 1)
    const at = starts.findLastIndex((start) => start <= first)
    const line = lines[at]?.trim() ?? ""
    const plain = `${short(before)} → ${short(edit.text)}`
    const nth = (count.get(`${at} ${plain}`) ?? 0) + 1
    count.set(`${at} ${plain}`, nth)
    mutants.push({ ...edit, file, line: at + 1, source: line, mutation: nth === 1 ? plain : `${plain} (${nth})` })
  }
  return mutants
}

/** What identifies a fault. */
export const keyOf = ({ file, source, mutation }: Pick<Mutant, "file" | "source" | "mutation">): string =>
  `${file}\n${source}\n${mutation}`

export const planted = (source: string, { start, end, text }: Edit): string =>
  source.slice(0, start) + text + source.slice(end)
