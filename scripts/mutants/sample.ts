/**
 * Which faults are tried: a sample of each folder by a seed, without those that test/mutants/accepted.json lists as no faults.
 *
 * A fault's place in the sample depends on its own text and the seed. So the sample stays the same when other lines move.
 */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { keyOf, type Mutant, named } from "./edits.ts"
import { typescriptEdits } from "./typescript.ts"

/** Money, leases and roles: a fault here costs somebody money, or shows them what is not theirs. */
export const folders = [
  "src/schema/money",
  "src/schema/wallet",
  "src/actors/wallet",
  "src/http/access",
  "src/schema/runs",
  "src/layers/guards",
  "src/layers/runs",
  "src/layers/ledger"
] as const

/** A fault that changes nothing that a test could see, and why. */
export interface Accepted {
  readonly file: string
  /** The text of the line, without the spaces around it. */
  readonly line: string
  /** As `--list` prints it. */
  readonly mutation: string
  readonly reason: string
}

export const acceptedFile = join("test", "mutants", "accepted.json")
export const readAccepted = (root: string): ReadonlyArray<Accepted> =>
  JSON.parse(readFileSync(join(root, acceptedFile), "utf8"))

/** All faults of one file. */
export const mutantsOf = (file: string, source: string): ReadonlyArray<Mutant> =>
  named(file, source, typescriptEdits(file, source))

/** All faults of these folders or files, by folder. */
export const allMutants = (root: string, places: ReadonlyArray<string>): ReadonlyMap<string, ReadonlyArray<Mutant>> =>
  new Map(
    places.map((place) => {
      const files = place.endsWith(".ts") ? [place] : [...new Bun.Glob(`${place}/**/*.ts`).scanSync(root)].sort()
      return [place, files.flatMap((file) => mutantsOf(file, readFileSync(join(root, file), "utf8")))]
    })
  )

/** Splits the faults by the list, and names the entries of the list that match none of them. */
export const withoutAccepted = (mutants: ReadonlyArray<Mutant>, accepted: ReadonlyArray<Accepted>) => {
  const known = new Set(accepted.map(({ file, line, mutation }) => keyOf({ file, source: line, mutation })))
  const keys = new Set(mutants.map(keyOf))
  return {
    faults: mutants.filter((mutant) => !known.has(keyOf(mutant))),
    unmatched: accepted.filter(({ file, line, mutation }) => !keys.has(keyOf({ file, source: line, mutation })))
  }
}

const rank = (seed: number, mutant: Mutant) =>
  createHash("sha1")
    .update(`${seed}\n${keyOf(mutant)}`)
    .digest("hex")

/** The first `count` in the order that the seed gives them. */
export const sampled = (mutants: ReadonlyArray<Mutant>, seed: number, count: number): ReadonlyArray<Mutant> =>
  mutants
    .map((mutant) => [rank(seed, mutant), mutant] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .slice(0, count)
    .map(([, mutant]) => mutant)

/** `count` faults of all folders together, in turn. */
export const spread = (
  groups: ReadonlyArray<ReadonlyArray<Mutant>>,
  seed: number,
  count: number
): ReadonlyArray<Mutant> => {
  const queues = groups.map((group) => [...sampled(group, seed, count)])
  const chosen: Array<Mutant> = []
  for (let at = 0; chosen.length < count && queues.some((queue) => queue.length > 0); at += 1) {
    // Another folder comes first with each seed, because the last ones get one less.
    const next = queues[(at + Math.abs(seed)) % queues.length]?.shift()
    if (next !== undefined) chosen.push(next)
  }
  return chosen
}
