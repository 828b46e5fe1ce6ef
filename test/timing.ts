/**
 * Whether two kinds of request can be told apart by the time they take: Welch's t of interleaved samples.
 *
 * Each round asks once for every kind, in a new random order, so that a busy moment of the machine meets all of them alike. The slowest
 * tenth of each sample is left out: it measures the machine. Noise makes one comparison in 150,000 exceed the limit; a machine that others
 * use makes it more often, so a comparison that exceeds it is made again, a bounded number of times. A real difference exceeds it every time.
 */
export const tLimit = 4.5
const kept = 0.9

const moments = (values: ReadonlyArray<number>) => {
  const low = values.toSorted((a, b) => a - b).slice(0, Math.ceil(values.length * kept))
  const mean = low.reduce((sum, one) => sum + one, 0) / low.length
  const variance = low.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (low.length - 1)
  return { mean, error: variance / low.length }
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
