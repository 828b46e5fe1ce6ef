/**
 * How many inputs the tests with large matrices try: TEST_INPUTS is `few` (a sample that still has each class), `quarter` (at least as
 * many, and a quarter of all), or `all`. `npm test` tries few, `npm run test:all` a quarter, `npm run test:release` all.
 *
 * The choice changes every day, and quarters of four days in a row are everything. TEST_SEED chooses one: the tests print the seed of theirs.
 */
const inputs = process.env["TEST_INPUTS"] ?? "few"
if (!["few", "quarter", "all"].includes(inputs)) throw new Error(`TEST_INPUTS is few, quarter or all, not ${inputs}`)

/** All inputs are tried. */
export const exhaustive = inputs === "all"
const thorough = inputs !== "few"

const dayMillis = 86_400_000
/** The number of the sample. */
export const sampleSeed = Number(process.env["TEST_SEED"] ?? Math.floor(Date.now() / dayMillis))
/** What repeats this choice. Null: there is none, because all inputs are tried. */
export const repeatedBy = exhaustive ? null : `TEST_INPUTS=${inputs} TEST_SEED=${sampleSeed}`

/** Whether a long test runs: not in `npm test`, on one day of four with a quarter of the inputs, and always with all. */
export const dueToday = (turn: number): boolean => exhaustive || (thorough && (sampleSeed + turn) % 4 === 0)

const quarter = (all: number): number => (thorough ? Math.ceil(all / 4) : 0)

/** How many: `all` of them, or `few`. */
export const howMany = (all: number, few: number): number => (exhaustive ? all : Math.max(few, quarter(all)))

/**
 * `few` of the values, evenly spread. `turn` gives the next item of an outer loop others, so that few items see all values.
 * A quarter of the values is at most four apart, so four seeds in a row have each.
 */
export const sampled = <A>(values: ReadonlyArray<A>, few: number, turn = 0): ReadonlyArray<A> => {
  const count = howMany(values.length, few)
  if (count >= values.length) return values
  const start = sampleSeed + turn
  const chosen = new Set(
    Array.from({ length: count }, (_, at) => (start + Math.floor((at * values.length) / count)) % values.length)
  )
  return values.filter((_, at) => chosen.has(at))
}
