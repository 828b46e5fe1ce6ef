/**
 * The nearest valid name to a misspelled one, for messages that ask "Did you mean …?".
 *
 * The distance counts inserted, deleted, replaced and swapped letters. Upper and lower case are the same, and so are `-` and `_`. Names that
 * are too far away are never suggested, so the result may be null.
 */

/** Longer names are not compared, because the work grows with the product of both lengths. */
const lengthMax = 128
/** One mistake per three letters, and never more than this. */
const mistakesMax = 3

const folded = (name: string): string => name.toLowerCase().replaceAll("-", "_")

/** Optimal string alignment distance: Levenshtein with swaps of neighbours. */
const distance = (a: string, b: string): number => {
  let older: Array<number> = []
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      current[column] = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (older[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY
      )
    }
    older = previous
    previous = current
  }
  return previous[b.length] ?? 0
}

/** The name with the fewest mistakes, or the first of several. Null if none is near. */
export const nearest = (name: string, names: Iterable<string>): string | null => {
  if (name.length > lengthMax) return null
  const wanted = folded(name)
  const most = Math.min(mistakesMax, Math.floor(wanted.length / 3))
  let best: string | null = null
  let fewest = most + 1
  for (const one of names) {
    // Each letter that one name has more is a mistake.
    if (Math.abs(one.length - wanted.length) >= fewest) continue
    const mistakes = distance(wanted, folded(one))
    if (mistakes < fewest) {
      best = one
      fewest = mistakes
    }
  }
  return best
}
