/**
 * How many inputs the slow tests try. With TEST_EXHAUSTIVE=1 they try all of them. Without it they try a sample that still has each class.
 *
 * The sample changes every day, so that runs of several days cover more. TEST_SEED chooses one: the tests print the seed of theirs.
 */
import { once } from "./process-end.ts"

export const exhaustive = process.env["TEST_EXHAUSTIVE"] === "1"

const dayMillis = 86_400_000
/** The number of the sample. */
export const sampleSeed = Number(process.env["TEST_SEED"] ?? Math.floor(Date.now() / dayMillis))
if (!exhaustive)
  once("exhaustive/said", () =>
    console.log(
      `tests try samples of their inputs: TEST_EXHAUSTIVE=1 tries all, TEST_SEED=${sampleSeed} tries these again`
    )
  )

/** How many: `all` of them, or `few`. */
export const howMany = (all: number, few: number): number => (exhaustive ? all : few)

/** `few` of the values, evenly spread. `turn` gives the next item of an outer loop others, so that few items see all values. */
export const sampled = <A>(values: ReadonlyArray<A>, few: number, turn = 0): ReadonlyArray<A> => {
  if (exhaustive || few >= values.length) return values
  const start = sampleSeed + turn
  const chosen = new Set(
    Array.from({ length: few }, (_, at) => (start + Math.floor((at * values.length) / few)) % values.length)
  )
  return values.filter((_, at) => chosen.has(at))
}
