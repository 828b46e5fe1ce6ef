/**
 * What all runs that hold something come to, from what segments know of them. Pure.
 *
 * Counting takes the runs' classes alone. Of single runs only the newest matter: each segment says between which ids its runs lie, so that only those
 * that may be among the newest are read.
 */
import { isLookup, isTouch, isUnknownTouch, type NoLookups } from "./Lookups.ts"
import type { SegmentRow } from "./Segments.ts"
import {
  type Class,
  classPageOf,
  type ClassPage,
  classRuns,
  type Kind,
  noClass,
  noClasses,
  type Run
} from "../../../schema/segments/Docs.ts"
import { flagsIn, named, recipient, runIn } from "../../../schema/segments/Segment.ts"

/** A page of classes, and which of them are touches or lookups; all of these together. */
interface Page extends ClassPage {
  readonly traits: Uint8Array
  readonly any: number
}
const touch = 1
const lookup = 2
const unknownTouch = 4
const traitsIn = (of: Class, not: NoLookups) =>
  (isTouch(of.kind) ? touch : 0) | (isLookup(of, not) ? lookup : 0) | (isUnknownTouch(of.kind) ? unknownTouch : 0)

export const traitsOf =
  (not: NoLookups) =>
  (page: ClassPage): Page => {
    const traits = Uint8Array.from(page.classes, (of) => traitsIn(of, not))
    return { ...page, traits, any: traits.reduce((sum, one) => sum | one, 0) }
  }
export const nothingKnown: Page = { ...noClasses, traits: new Uint8Array(1), any: 0 }

/** Those of a list of postings whose runs are counted by one page. */
export interface Stretch {
  readonly page: Page
  readonly from: number
  readonly to: number
}

/** The runs of one segment that hold it. */
export interface SegmentMatches {
  readonly row: SegmentRow
  /** Postings; they ascend. */
  readonly list: ReadonlyArray<number>
  readonly stretches: ReadonlyArray<Stretch>
}

/** Where a list goes on with another page, by its number. */
export const cutsOf = (
  list: ReadonlyArray<number>
): ReadonlyArray<{ readonly number: number; readonly from: number; readonly to: number }> => {
  const cuts: Array<{ readonly number: number; readonly from: number; readonly to: number }> = []
  for (let from = 0, to = 0; from < list.length; from = to) {
    const number = classPageOf(runIn(list[from] ?? 0))
    const end = number * classRuns
    while (to < list.length && runIn(list[to] ?? 0) < end) to++
    cuts.push({ number, from, to })
  }
  return cuts
}

/** A run, with the flags of where it stands in it. */
export interface Found {
  readonly run: Run
  readonly flags: number
}

/** Which of the newest somebody wants to know. */
export interface Want {
  /** Of all that hold it; at least one. */
  readonly newest: number
  /** Of lookups that can be read again. */
  readonly reusable: number
  /** And the oldest, and how many there are of each group. */
  readonly groups: boolean
}

/** All with one status of one capability or endpoint. */
export interface Group {
  readonly status: string
  readonly capability: string | null
  readonly endpoint: string | null
  readonly count: number
  /** Microdollars. */
  readonly charged: bigint
}

export interface SubjectSummary {
  readonly count: number
  readonly groups: ReadonlyArray<Group>
  /** The newest first. */
  readonly newest: ReadonlyArray<Found>
  /** Null too when nobody wanted it, as groups are none then. */
  readonly oldest: Run | null
  /** The latest touch that succeeded; and the latest of those that went there. */
  readonly touch: Run | null
  readonly contact: Run | null
  /** The latest touch that may have gone there, and nobody knows. */
  readonly unknown: Run | null
  /** The newest first. */
  readonly reusable: ReadonlyArray<Run>
}

/** A run that may be told, by its place in a segment. */
export interface Candidate {
  readonly row: SegmentRow
  readonly number: number
  readonly flags: number
  readonly of: Class
}

/** What is to be so of a run: of its class, and of where in it something stands; 0 for either when nothing is asked. */
interface Rule {
  readonly trait: number
  readonly flag: number
}
const any: Rule = { trait: 0, flag: 0 }
const touches: Rule = { trait: touch, flag: 0 }
const contacts: Rule = { trait: touch, flag: recipient }
const unknowns: Rule = { trait: unknownTouch, flag: recipient }
const lookups: Rule = { trait: lookup, flag: named }

const meets = ({ trait, flag }: Rule, traits: number, flags: number) =>
  (flag === 0 || (flags & flag) !== 0) && (trait === 0 || (traits & trait) !== 0)

const numberOf = ({ of }: ClassPage, posting: number) => of[runIn(posting) % classRuns] ?? 0
const classAt = (page: ClassPage, posting: number): Class => page.classes[numberOf(page, posting)] ?? noClass

/** The newest of one segment that meet a rule, up to so many. A page without such a class is passed over. */
const newestIn = ({ row, list, stretches }: SegmentMatches, limit: number, rule: Rule): ReadonlyArray<Candidate> => {
  const found: Array<Candidate> = []
  for (let s = stretches.length - 1; s >= 0 && found.length < limit; s--) {
    const { page, from, to } = stretches[s] ?? { page: nothingKnown, from: 0, to: 0 }
    if (rule.trait !== 0 && (page.any & rule.trait) === 0) continue
    for (let n = to - 1; n >= from && found.length < limit; n--) {
      const posting = list[n] ?? 0
      if (meets(rule, page.traits[numberOf(page, posting)] ?? 0, posting))
        found.push({ row, number: runIn(posting), flags: flagsIn(posting), of: classAt(page, posting) })
    }
  }
  return found
}

/** Those that may be among the so many newest of which something is so. */
const candidates = (held: ReadonlyArray<SegmentMatches>, limit: number, rule: Rule): ReadonlyArray<Candidate> => {
  const found: Array<Candidate> = []
  let oldest = "~"
  for (const one of held.toSorted((a, b) => (a.row.last_run < b.row.last_run ? 1 : -1))) {
    if (found.length >= limit && one.row.last_run < oldest) break
    const more = newestIn(one, limit, rule)
    found.push(...more)
    if (more.length > 0 && one.row.first_run < oldest) oldest = one.row.first_run
  }
  return found
}

const oldestOf = (held: ReadonlyArray<SegmentMatches>): ReadonlyArray<Candidate> => {
  const found: Array<Candidate> = []
  let newest = ""
  for (const one of held.toSorted((a, b) => (a.row.first_run < b.row.first_run ? -1 : 1))) {
    const [posting] = one.list
    const [stretch] = one.stretches
    if (posting === undefined || stretch === undefined) continue
    if (found.length > 0 && one.row.first_run > newest) break
    found.push({ row: one.row, number: runIn(posting), flags: flagsIn(posting), of: classAt(stretch.page, posting) })
    if (one.row.last_run > newest) newest = one.row.last_run
  }
  return found
}

/** Runs that must be read before the facts are known. */
export interface Sifted {
  readonly newest: ReadonlyArray<Candidate>
  readonly oldest: ReadonlyArray<Candidate>
  readonly touch: ReadonlyArray<Candidate>
  readonly contact: ReadonlyArray<Candidate>
  readonly unknown: ReadonlyArray<Candidate>
  readonly reusable: ReadonlyArray<Candidate>
}

export const sifted = (held: ReadonlyArray<SegmentMatches>, want: Want): Sifted => ({
  newest: candidates(held, want.newest, any),
  oldest: want.groups ? oldestOf(held) : [],
  touch: candidates(held, 1, touches),
  contact: candidates(held, 1, contacts),
  unknown: candidates(held, 1, unknowns),
  reusable: candidates(held, want.reusable, lookups)
})

interface Sum {
  count: number
  charged: bigint
}
const put = (sums: Map<Kind, Sum>, { kind, charged }: Class, count: number) => {
  const sum = sums.get(kind)
  if (sum === undefined) sums.set(kind, { count, charged: charged * BigInt(count) })
  else {
    sum.count += count
    sum.charged += charged * BigInt(count)
  }
}

/** A hundred thousand runs may hold it: those of a class are counted before anything is compared. */
const groupsOf = (held: ReadonlyArray<SegmentMatches>, young: ReadonlyArray<Found>): ReadonlyArray<Group> => {
  const sums = new Map<Kind, Sum>()
  for (const { list, stretches } of held) {
    for (const { page, from, to } of stretches) {
      const counts = new Uint32Array(page.classes.length)
      for (let n = from; n < to; n++) {
        const of = numberOf(page, list[n] ?? 0)
        counts[of] = (counts[of] ?? 0) + 1
      }
      counts.forEach((count, of) => {
        if (count > 0) put(sums, page.classes[of] ?? noClass, count)
      })
    }
  }
  for (const { run } of young) put(sums, run, 1)
  const groups = new Map<string, Group>()
  for (const [{ status, capability, endpoint }, { count, charged }] of sums) {
    const name = JSON.stringify([status, capability, endpoint])
    const known = groups.get(name) ?? { status, capability, endpoint, count: 0, charged: 0n }
    groups.set(name, { ...known, count: known.count + count, charged: known.charged + charged })
  }
  return [...groups.values()]
}

/**
 * The facts with what was found out about the latest unknown touch: one that arrived is a contact, one that did not is none. After a later
 * contact nobody needs to know.
 */
export const withFinding = (facts: SubjectSummary, finding: string | undefined): SubjectSummary => {
  const { unknown, contact } = facts
  if (unknown === null) return facts
  if (contact !== null && contact.run_id > unknown.run_id) return { ...facts, unknown: null }
  if (finding === undefined) return facts
  return { ...facts, unknown: null, contact: finding === "delivered" ? unknown : contact }
}

const newestFirst = ({ run: a }: Found, { run: b }: Found) => (a.run_id < b.run_id ? 1 : a.run_id > b.run_id ? -1 : 0)

/** `known`: the candidates, read. */
export const summaryOf = (
  held: ReadonlyArray<SegmentMatches>,
  young: ReadonlyArray<Found>,
  {
    from,
    known,
    want,
    not
  }: {
    readonly from: Sifted
    readonly known: (candidate: Candidate) => Run
    readonly want: Want
    readonly not: NoLookups
  }
): SubjectSummary => {
  const read = (old: ReadonlyArray<Candidate>) => old.map((one): Found => ({ run: known(one), flags: one.flags }))
  const top = (old: ReadonlyArray<Candidate>, limit: number, rule: Rule) =>
    [...read(old), ...young.filter(({ run, flags }) => meets(rule, traitsIn(run, not), flags))]
      .sort(newestFirst)
      .slice(0, limit)
  const oldest = want.groups ? [...read(from.oldest), ...young].sort(newestFirst) : []
  return {
    count: held.reduce((sum, { list }) => sum + list.length, young.length),
    groups: want.groups ? groupsOf(held, young) : [],
    newest: top(from.newest, want.newest, any),
    oldest: oldest.at(-1)?.run ?? null,
    touch: top(from.touch, 1, touches)[0]?.run ?? null,
    contact: top(from.contact, 1, contacts)[0]?.run ?? null,
    unknown: top(from.unknown, 1, unknowns)[0]?.run ?? null,
    reusable: top(from.reusable, want.reusable, lookups).map(({ run }) => run)
  }
}
