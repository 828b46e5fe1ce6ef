/**
 * Whether two kinds of request can be told apart by the time they take: Yuen's t, which is Welch's t of trimmed samples.
 *
 * Each round asks once for every kind, in a new random order, so that a busy moment of the machine meets all of them alike. Of each sample
 * the faster half counts: the slower one measures who else uses the machine. A comparison that exceeds the limit is made again, a bounded
 * number of times, because noise exceeds it by chance. A real difference exceeds it every time.
 */
export const tLimit = 4.5
const kept = 0.5

/** The mean of the faster half, and its squared error by the winsorized variance. */
const moments = (values: ReadonlyArray<number>) => {
  const sorted = values.toSorted((a, b) => a - b)
  const { length: n } = sorted
  const h = Math.ceil(n * kept)
  const mean = sorted.slice(0, h).reduce((sum, one) => sum + one, 0) / h
  const winsorized = sorted.map((one) => Math.min(one, sorted[h - 1] ?? 0))
  const middle = winsorized.reduce((sum, one) => sum + one, 0) / n
  const squares = winsorized.reduce((sum, one) => sum + (one - middle) ** 2, 0)
  return { mean, error: squares / (h * (h - 1)) }
}

export const welch = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => {
  const [x, y] = [moments(a), moments(b)]
  return (x.mean - y.mean) / Math.sqrt(x.error + y.error)
}

type Kinds = Readonly<Record<string, () => Promise<unknown>>>

const shuffled = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> =>
  values
    .map((value) => ({ value, by: Math.random() }))
    .sort((a, b) => a.by - b.by)
    .map(({ value }) => value)

/** Milliseconds of `rounds` calls of each kind, after a tenth as many that warm up. */
const sample = async (kinds: Kinds, rounds: number) => {
  const times = new Map(Object.keys(kinds).map((name) => [name, new Array<number>()]))
  for (let round = -Math.ceil(rounds / 10); round < rounds; round++) {
    for (const [name, call] of shuffled(Object.entries(kinds))) {
      const began = performance.now()
      await call()
      if (round >= 0) times.get(name)?.push(performance.now() - began)
    }
  }
  return times
}

export interface Compared {
  /** The largest |t| of any kind against the first one, in the attempt that counts. */
  readonly t: number
  readonly attempts: number
}

/** Compares every kind with the first one, again while one differs, `attemptsMax` times at most. */
export const compareTimes = async (kinds: Kinds, rounds: number, attemptsMax = 4): Promise<Compared> => {
  for (let attempts = 1; ; attempts++) {
    const [first = [], ...others] = [...(await sample(kinds, rounds)).values()]
    const t = Math.round(Math.max(...others.map((other) => Math.abs(welch(first, other)))) * 100) / 100
    if (t < tLimit || attempts === attemptsMax) return { t, attempts }
  }
}
