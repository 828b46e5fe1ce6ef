/**
 * The terms of the index in alphabetical order, with exact look-up, look-up by prefix, and terms one or two edits away.
 *
 * The search for misspelt terms reads all terms of similar length. That is fast, because one 32-bit comparison excludes almost all: a word
 * one edit away differs in at most two letters of the alphabet.
 */

export interface Vocabulary {
  /** Sorted by UTF-16 code units. */
  readonly terms: ReadonlyArray<string>
  /** For each term, the shortest lower-case word with this stem. Shown in suggestions. */
  readonly spellings: ReadonlyArray<string>
  /** Which letters a term has, a bit each. */
  readonly letters: Uint32Array
  /** Term ids by length, then alphabetically. */
  readonly byLength: Uint32Array
  /** Where each length begins in `byLength`. One entry more marks the end. */
  readonly lengthStarts: Uint32Array
}

/** Whether a term is a concept. No word of a text begins with "#". */
export const isConcept = (term: string): boolean => term.startsWith("#")

export const lettersOf = (term: string): number => {
  let bits = 0
  for (let at = 0; at < term.length; at += 1) bits |= 1 << (term.charCodeAt(at) & 31)
  return bits >>> 0
}

const longest = 64

/** Builds the arrays that the look-ups need from sorted terms. Pauses after every `pause` terms. */
export function* vocabularyOf(
  terms: ReadonlyArray<string>,
  spellings: ReadonlyArray<string>,
  pause: number
): Generator<void, Vocabulary> {
  const letters = new Uint32Array(terms.length)
  const lengths = new Uint8Array(terms.length)
  const lengthStarts = new Uint32Array(longest + 2)
  for (let id = 0; id < terms.length; id += 1) {
    const term = terms[id] ?? ""
    const length = isConcept(term) ? 0 : Math.min(term.length, longest)
    letters[id] = lettersOf(term)
    lengths[id] = length
    lengthStarts[length + 1] = (lengthStarts[length + 1] ?? 0) + 1
    if (id % pause === pause - 1) yield
  }
  for (let length = 1; length < lengthStarts.length; length += 1) {
    lengthStarts[length] = (lengthStarts[length] ?? 0) + (lengthStarts[length - 1] ?? 0)
  }
  const next = lengthStarts.slice()
  const byLength = new Uint32Array(terms.length)
  for (let id = 0; id < terms.length; id += 1) {
    const length = lengths[id] ?? 0
    const at = next[length] ?? 0
    byLength[at] = id
    next[length] = at + 1
  }
  return { terms, spellings, letters, byLength, lengthStarts }
}

/** The position of the first sorted term, from `from` on, for which `isLow` is false. */
const firstAfter = (terms: ReadonlyArray<string>, isLow: (term: string) => boolean, from: number): number => {
  let low = from
  let high = terms.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isLow(terms[middle] ?? "")) low = middle + 1
    else high = middle
  }
  return low
}

/** A term's number, or undefined when no document has it. */
export const idOf = ({ terms }: Vocabulary, term: string): number | undefined => {
  const at = firstAfter(terms, (one) => one < term, 0)
  return terms[at] === term ? at : undefined
}

/** The numbers of all terms that begin with `prefix`, as a half-open range. */
export const prefixRange = ({ terms }: Vocabulary, prefix: string): readonly [number, number] => {
  const start = firstAfter(terms, (term) => term < prefix, 0)
  return [start, firstAfter(terms, (term) => term.startsWith(prefix), start)]
}

/** Rows of the edit table, reused between calls. `longest` bounds the terms that are compared. */
const rows = [0, 1, 2].map(() => new Uint8Array(longest + 1))

/**
 * The number of edits between two words: insertions, deletions, replacements and swaps of neighbours. Above `most` it is `most + 1`.
 */
export const editsBetween = (a: string, b: string, most: number): number => {
  if (Math.abs(a.length - b.length) > most || a.length > longest || b.length > longest) return most + 1
  let [before = new Uint8Array(), above = new Uint8Array(), line = new Uint8Array()] = rows
  for (let column = 0; column <= b.length; column += 1) above[column] = column
  for (let row = 1; row <= a.length; row += 1) {
    line[0] = row
    let least = row
    const letter = a.charCodeAt(row - 1)
    for (let column = 1; column <= b.length; column += 1) {
      const other = b.charCodeAt(column - 1)
      let edits = (above[column - 1] ?? 0) + (letter === other ? 0 : 1)
      edits = Math.min(edits, (above[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1)
      if (row > 1 && column > 1 && letter === b.charCodeAt(column - 2) && a.charCodeAt(row - 2) === other) {
        edits = Math.min(edits, (before[column - 2] ?? 0) + 1)
      }
      line[column] = edits
      if (edits < least) least = edits
    }
    if (least > most) return most + 1
    const spare = before
    before = above
    above = line
    line = spare
  }
  return Math.min(above[b.length] ?? most + 1, most + 1)
}

const bitsOf = (word: number): number => {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

export interface Near {
  readonly id: number
  readonly edits: number
}

/** Short words get no edits, because one edit makes another word of them. */
export const editsAllowed = (term: string): number => (term.length < 4 ? 0 : term.length < 8 ? 1 : 2)

/** Terms within the number of edits allowed for the word's length. With two edits the first letter must be right. */
export const nearTerms = (vocabulary: Vocabulary, term: string): ReadonlyArray<Near> => {
  const most = editsAllowed(term)
  if (most === 0) return []
  const { terms, letters, byLength, lengthStarts } = vocabulary
  const wanted = lettersOf(term)
  const near: Array<Near> = []
  const from = lengthStarts[Math.max(1, Math.min(term.length - most, longest))] ?? 0
  const to = lengthStarts[Math.min(term.length + most, longest) + 1] ?? 0
  for (let at = from; at < to; at += 1) {
    const id = byLength[at] ?? 0
    const differing = bitsOf((letters[id] ?? 0) ^ wanted)
    if (differing > 2 * most) continue
    const other = terms[id] ?? ""
    const allowed = other.charCodeAt(0) === term.charCodeAt(0) ? most : 1
    if (differing > 2 * allowed) continue
    const edits = editsBetween(term, other, allowed)
    if (edits <= allowed) near.push({ id, edits })
  }
  return near
}
