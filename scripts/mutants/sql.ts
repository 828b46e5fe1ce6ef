/**
 * Faults in SQL: conditions, fences, locks, comparisons, arithmetic, constants, orders and joins.
 *
 * The statement is split into tokens, without a grammar. That is enough to find where a condition begins and ends, because
 * parentheses and CASE nest and all other clauses begin with a keyword. A fault that PostgreSQL can't parse is not counted (run.ts).
 */
import { constants, type Edit } from "./edits.ts"

interface Token {
  readonly kind: "word" | "number" | "string" | "op" | "open" | "close" | "comma" | "hole"
  /** Words are in upper case. */
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Marks a character of an interpolation, which is no SQL. */
export const hole = "\u0001"
const patterns: ReadonlyArray<readonly [Token["kind"] | "space", RegExp]> = [
  ["space", /\s+|--[^\n]*|\/\*[^]*?\*\//y],
  ["hole", new RegExp(`${hole}+`, "y")],
  ["string", /'(?:[^']|'')*'/y],
  ["word", /[a-z_][\w$]*|"[^"]*"/iy],
  ["number", /\d+(?:\.\d+)?/y],
  ["comma", /,/y],
  ["open", /[([]/y],
  ["close", /[)\]]/y],
  ["op", /[-+*/<>=~!@#%^&|?:]+|./y]
]

const tokensOf = (sql: string): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  for (let at = 0; at < sql.length; ) {
    for (const [kind, pattern] of patterns) {
      pattern.lastIndex = at
      const text = pattern.exec(sql)?.[0]
      if (text === undefined) continue
      if (kind !== "space") {
        tokens.push({ kind, text: kind === "word" ? text.toUpperCase() : text, start: at, end: at + text.length })
      }
      at += text.length
      break
    }
  }
  return tokens
}

/** A clause, and with it a condition, ends before each of these words. */
const clauses = new Set(
  `SELECT FROM WHERE ON USING HAVING WHEN THEN ELSE ORDER GROUP BY LIMIT OFFSET RETURNING FOR UNION EXCEPT INTERSECT SET JOIN LEFT INNER RIGHT CROSS
   FULL VALUES DO AS WITH INSERT UPDATE DELETE INTO CONFLICT WINDOW PARTITION LATERAL NOTHING SKIP`.split(/\s+/)
)
/** After these words an interpolation is an operand, and no further piece of SQL. */
const operators = new Set(`${[...clauses].join(" ")} AND OR NOT IN LIKE ILIKE IS BETWEEN ANY ALL INTERVAL`.split(" "))
const endsOperand = (token: Token | undefined) =>
  token !== undefined &&
  (token.kind === "word" ? !operators.has(token.text) : !["op", "open", "comma"].includes(token.kind))

/** The tokens of the text, of each pair of parentheses and of each CASE. A pair's own tokens belong to the outer region too. */
const regionsOf = (tokens: ReadonlyArray<Token>): ReadonlyArray<ReadonlyArray<Token>> => {
  const top: Array<Token> = []
  const all = [top]
  const open = [top]
  for (const token of tokens) {
    const closes = token.kind === "close" || token.text === "END"
    if (closes && open.length > 1) open.pop()
    open.at(-1)?.push(token)
    if (token.kind !== "open" && token.text !== "CASE") continue
    const inner: Array<Token> = []
    all.push(inner)
    open.push(inner)
  }
  return all
}

const cut = (start: number, end: number): Edit => ({ start, end, text: "" })
const swap = (token: Token, text: string): Edit => ({ start: token.start, end: token.end, text })

/** Drops each part of `a AND b OR c`. A lone condition of WHERE becomes `true`. */
const conditions = (region: ReadonlyArray<Token>): ReadonlyArray<Edit> => {
  const edits: Array<Edit> = []
  let starter: Token | undefined
  let parts: Array<Array<Token>> = [[]]
  let links: Array<Token> = []
  const close = () => {
    const filled = parts.map((part) => ({ from: part[0]?.start ?? 0, to: part.at(-1)?.end ?? 0, part }))
    const [only] = filled
    if (links.length === 0 && starter?.text === "WHERE" && only !== undefined && only.part.length > 0) {
      if (only.part[0]?.text !== "TRUE") edits.push({ start: only.from, end: only.to, text: "true" })
    }
    filled.forEach(({ from, to, part }, at) => {
      const before = links[at - 1]
      const next = filled[at + 1]
      if (part.length === 0) return
      if (before !== undefined) edits.push(cut(before.start, to))
      else if (next !== undefined && next.part.length > 0) edits.push(cut(from, next.from))
    })
  }
  let between = false
  region.forEach((token, at) => {
    const previous = region[at - 1]
    const distinctFrom = token.text === "FROM" && previous?.text === "DISTINCT" && region[at - 2]?.text !== "SELECT"
    const boundary = token.kind === "comma" || (clauses.has(token.text) && token.kind === "word" && !distinctFrom)
    if (token.text === "BETWEEN") between = true
    if (boundary || (token.kind === "hole" && endsOperand(previous))) {
      close()
      starter = token
      parts = [[]]
      links = []
    } else if (token.text === "AND" && between) {
      between = false
      parts.at(-1)?.push(token)
    } else if (token.text === "AND" || token.text === "OR") {
      links.push(token)
      parts.push([])
    } else parts.at(-1)?.push(token)
  })
  close()
  return edits
}

/** Drops each `column = value` of SET that is not the only one. */
const assignments = (region: ReadonlyArray<Token>, assigned: Set<Token>): ReadonlyArray<Edit> => {
  const edits: Array<Edit> = []
  for (let at = region.findIndex((token) => token.text === "SET"); at >= 0; ) {
    const rest = region.slice(at + 1)
    const end = rest.findIndex((token) => token.kind === "word" && clauses.has(token.text) && token.text !== "ON")
    const set = end < 0 ? rest : rest.slice(0, end)
    const pieces: Array<Array<Token>> = [[]]
    for (const token of set) {
      if (token.kind === "comma") pieces.push([])
      else pieces.at(-1)?.push(token)
    }
    pieces.forEach((piece, index) => {
      const equals = piece.find((token) => token.text === "=")
      if (equals !== undefined) assigned.add(equals)
      const [first, second] = piece
      const next = pieces[index + 1]?.[0]
      if (first?.kind !== "word" || second !== equals || equals === undefined) return
      if (next !== undefined) edits.push(cut(first.start, next.start))
      else if (index > 0) edits.push(cut(pieces[index - 1]?.at(-1)?.end ?? first.start, piece.at(-1)?.end ?? first.end))
    })
    const following = region.findIndex((token, index) => index > at && token.text === "SET")
    at = following
  }
  return edits
}

const swaps: Readonly<Record<string, string>> = { "<": "<=", "<=": "<", ">": ">=", ">=": ">", "<>": "=", "!=": "=" }
const functions: Readonly<Record<string, string>> = {
  LEAST: "greatest",
  GREATEST: "least",
  MIN: "max",
  MAX: "min",
  BOOL_AND: "bool_or",
  BOOL_OR: "bool_and"
}
const arithmetic: Readonly<Record<string, string>> = { "+": "-", "-": "+", "*": "/", "/": "*" }
const literals: Readonly<Record<string, string>> = { TRUE: "false", FALSE: "true" }

/** Faults of one word or operator. */
const words = (region: ReadonlyArray<Token>, assigned: ReadonlySet<Token>, sql: string): ReadonlyArray<Edit> =>
  region.flatMap((token, at): ReadonlyArray<Edit> => {
    const [before, next] = [region[at - 1], region[at + 1]]
    const { kind, text } = token
    if (kind === "op") {
      if (text === "=") return assigned.has(token) ? [] : [swap(token, "<>")]
      // Two points in time are never equal, so the other direction is the fault.
      if (next?.text === "NOW" && /^[<>]=?$/.test(text)) return [swap(token, text.startsWith("<") ? ">" : "<")]
      const operand = endsOperand(before) && next !== undefined && next.kind !== "comma" && next.kind !== "close"
      const other =
        swaps[text] ?? (operand && !(next.kind === "word" && clauses.has(next.text)) ? arithmetic[text] : undefined)
      return other === undefined ? [] : [swap(token, other)]
    }
    if (kind === "number") {
      if (before?.text === "SELECT" || before?.text === "RETURNING" || before?.text === "THEN") return []
      return constants(text).map((other) => swap(token, other))
    }
    if (kind === "string" && before?.text === "INTERVAL")
      return [
        swap(
          token,
          text.replace(/\d+/, (digits) => `${digits}0`)
        )
      ]
    if (kind !== "word") return []
    const called = next?.text === "("
    if (called && functions[text] !== undefined) return [swap(token, functions[text])]
    if (literals[text] !== undefined) return [swap(token, literals[text])]
    if (text === "COALESCE" && called) {
      const from = region.indexOf(token)
      const first = sql.slice(next.end)
      const inner = regionsOf(tokensOf(first))[0] ?? []
      const comma = inner.find((one) => one.kind === "comma")
      const close = region.slice(from + 2).find((one) => one.kind === "close")
      if (comma === undefined || close === undefined) return []
      return [{ start: token.start, end: close.end, text: first.slice(0, comma.start) }]
    }
    if (text === "IS" && next?.text === "NOT") return [cut(token.end, next.end)]
    if (text === "IS" && next !== undefined) return [{ start: token.end, end: token.end, text: " NOT" }]
    if (text === "NOT" && before?.text !== "IS" && next?.text !== "MATERIALIZED" && next?.text !== "NULL")
      return [cut(token.start, next?.start ?? token.end)]
    if (text === "EXISTS" && before?.text !== "NOT") return [{ start: token.start, end: token.start, text: "NOT " }]
    if (text === "FOR" && (next?.text === "UPDATE" || next?.text === "SHARE" || next?.text === "NO")) {
      const end = region.slice(at).findLast((one) => one.kind === "word") ?? next
      return [cut(token.start, end.end)]
    }
    if (text === "DESC") return [swap(token, "ASC")]
    if (text === "ASC") return [swap(token, "DESC")]
    if (text === "ORDER" && next?.text === "BY") {
      const rest = region.slice(at + 2)
      const stop = rest.findIndex((one) => one.kind === "comma" || (one.kind === "word" && clauses.has(one.text)))
      const item = stop < 0 ? rest : rest.slice(0, stop)
      const last = item.at(-1)
      if (last === undefined || item.some((one) => /^(ASC|DESC|NULLS)$/.test(one.text))) return []
      return [{ start: last.end, end: last.end, text: " DESC" }]
    }
    if (text === "DISTINCT" && before?.text !== "IS" && before?.text !== "NOT" && next?.text !== "ON")
      return [cut(token.start, next?.start ?? token.end)]
    if (text === "LEFT" && next?.text === "JOIN") return [cut(token.start, next.start)]
    if (text === "UNION" && next?.text === "ALL") return [cut(next.start, next.end)]
    if (text === "ON" && next?.text === "CONFLICT") {
      const nothing = region.slice(at, at + 8).findIndex((one) => one.text === "NOTHING")
      return nothing < 0 ? [] : [cut(token.start, region[at + nothing]?.end ?? token.end)]
    }
    return []
  })

/** The faults of a statement or of a piece of one, in which `hole` stands for each character of an interpolation. */
export const sqlEdits = (sql: string): ReadonlyArray<Edit> =>
  regionsOf(tokensOf(sql)).flatMap((region) => {
    const assigned = new Set<Token>()
    const dropped = assignments(region, assigned)
    return [...conditions(region), ...dropped, ...words(region, assigned, sql)]
  })
