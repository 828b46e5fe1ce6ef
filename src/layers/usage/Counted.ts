/**
 * Counts finished runs into the rows that rollups are made of. Pure.
 *
 * Each run is counted once in the group of its own values, and once more for each label whose name is counted.
 */
import type { Metadata } from "../../schema/runs/Metadata.ts"

/** Names of metadata that an organization's usage is counted by: the first that it sends. */
export const namesMax = 64
/** Values of a name that are counted on their own on one day: the first ones. All others are counted together. */
export const valuesMax = 1_000

/** Finished runs that are alike. */
export interface Fact {
  readonly org_id: string
  readonly day: string
  readonly capability: string | null
  readonly provider: string | null
  readonly key_id: string | null
  readonly endpoint: string | null
  readonly status: string
  readonly runs: bigint
  readonly charged: bigint
  readonly metadata: Metadata
}

export interface Counted extends Omit<Fact, "metadata"> {
  readonly group_id: string
  readonly name: string
  readonly value: string | null
}

const groupOf = (fact: Fact, name: string, value: string | null): string => {
  const { capability, provider, key_id, endpoint, status } = fact
  return JSON.stringify([capability, provider, key_id, endpoint, status, name, value])
}

/** Says how a label is counted: under its value, with the others (null), or not at all. */
export type Labels = (fact: Fact, name: string, value: string) => { readonly value: string | null } | null

export const countedOf = (facts: ReadonlyArray<Fact>, labels: Labels): ReadonlyArray<Counted> => {
  const rows = new Map<string, Counted>()
  const add = (fact: Fact, name: string, value: string | null) => {
    const group = groupOf(fact, name, value)
    const key = `${fact.org_id} ${fact.day} ${group}`
    const before = rows.get(key)
    const { metadata: _metadata, ...columns } = fact
    rows.set(key, {
      ...columns,
      group_id: before?.group_id ?? new Bun.CryptoHasher("md5").update(group).digest("hex"),
      name,
      value,
      runs: (before?.runs ?? 0n) + fact.runs,
      charged: (before?.charged ?? 0n) + fact.charged
    })
  }
  for (const fact of facts) {
    add(fact, "", null)
    for (const [name, value] of Object.entries(fact.metadata)) {
      const counted = labels(fact, name, value)
      if (counted !== null) add(fact, name, counted.value)
    }
  }
  return [...rows.values()]
}
