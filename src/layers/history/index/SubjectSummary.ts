/**
 * Summarizes the runs that match a subject or phrase: counts, charges, the newest and oldest runs, and contacts. Pure.
 *
 * Counting needs only the runs' classes. Single runs are read only if they may be among the newest, which the range of ids of each segment tells.
 */
import { isLookup, isTouch, isUnknownTouch, type NoLookups } from "./Lookups.ts"
import { damagedIn } from "./SegmentDamaged.ts"
import type { SegmentRow } from "./SegmentRow.ts"
import {
  type RunClass,
  classPageOf,
  type ClassPage,
  classRuns,
  type RunKind,
  type Run
} from "../../../schema/segments/Docs.ts"
import { flagsIn, named, recipient, runIn } from "../../../schema/segments/Segment.ts"

/** A page of classes with the traits (touch, lookup) of each class, and the traits that any of them has. */
interface Page extends ClassPage {
  readonly segment: bigint
  readonly traits: Uint8Array
  readonly any: number
}
const touch = 1
const lookup = 2
const unknownTouch = 4
const traitsIn = (of: RunClass, not: NoLookups) =>
  (isTouch(of.kind) ? touch : 0) | (isLookup(of, not) ? lookup : 0) | (isUnknownTouch(of.kind) ? unknownTouch : 0)

export const traitsOf =
  (not: NoLookups) =>
  (segment: bigint, page: ClassPage): Page => {
    const traits = Uint8Array.from(page.classes, (of) => traitsIn(of, not))
    return { ...page, segment, traits, any: traits.reduce((sum, one) => sum | one, 0) }
  }

/** The part of a list of postings whose classes are on one page. */
export interface Stretch {
  readonly page: Page
  readonly from: number
  readonly to: number
}

/** The matching runs of one segment. */
export interface SegmentMatches {
  readonly row: SegmentRow
  /** Postings in ascending order. */
  readonly list: ReadonlyArray<number>
  readonly stretches: ReadonlyArray<Stretch>
}

/** Splits a list of postings by the page of classes. */
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

/** A matching run, with the flags of the places where it matches. */
export interface Match {
  readonly run: Run
  readonly flags: number
}

/** The parts of a summary to compute. */
export interface Want {
  /** How many of the newest matching runs; at least one. */
  readonly newest: number
  /** How many of the newest lookups whose results can be read again. */
  readonly reusable: number
  /** Whether to compute the oldest run and the groups. */
  readonly groups: boolean
}

/** All matching runs with one status of one capability or endpoint. */
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
  readonly newest: ReadonlyArray<Match>
  /** Null if there is none, or if groups were not wanted. */
  readonly oldest: Run | null
  /** The latest successful touch, and the latest successful touch whose recipient is the subject. */
  readonly touch: Run | null
  readonly contact: Run | null
  /** The latest touch of the subject with an unknown outcome. */
  readonly unknown: Run | null
  /** The newest first. */
  readonly reusable: ReadonlyArray<Run>
}

/** A run that may be part of the summary, by its place in a segment. */
export interface Candidate {
  readonly row: SegmentRow
  readonly number: number
  readonly flags: number
  readonly of: RunClass
}

/** A condition on a run: a trait of its class and a flag of the matching place. 0 means no condition. */
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

const numberOf = ({ segment, of }: Page, posting: number): number =>
  of[runIn(posting) % classRuns] ?? damagedIn(segment, `the class of run ${runIn(posting)} is missing`)
const classIn = ({ segment, classes }: Page, number: number): RunClass =>
  classes[number] ?? damagedIn(segment, `a run names class ${number} of ${classes.length}`)
const classAt = (page: Page, posting: number): RunClass => classIn(page, numberOf(page, posting))

/** The newest runs of one segment that meet a rule, up to `limit`. Pages without such a class are skipped. */
const newestIn = ({ row, list, stretches }: SegmentMatches, limit: number, rule: Rule): ReadonlyArray<Candidate> => {
  const newest: Array<Candidate> = []
  for (const { page, from, to } of stretches.toReversed()) {
    if (newest.length >= limit) break
    if (rule.trait !== 0 && (page.any & rule.trait) === 0) continue
    for (let n = to - 1; n >= from && newest.length < limit; n--) {
      const posting = list[n] ?? 0
      if (meets(rule, page.traits[numberOf(page, posting)] ?? 0, posting))
        newest.push({ row, number: runIn(posting), flags: flagsIn(posting), of: classAt(page, posting) })
    }
  }
  return newest
}

/** The runs that may be among the `limit` newest that meet a rule. */
const candidates = (matches: ReadonlyArray<SegmentMatches>, limit: number, rule: Rule): ReadonlyArray<Candidate> => {
  const runs: Array<Candidate> = []
  let oldest = "~"
  for (const one of matches.toSorted((a, b) => (a.row.last_run < b.row.last_run ? 1 : -1))) {
    if (runs.length >= limit && one.row.last_run < oldest) break
    const more = newestIn(one, limit, rule)
    runs.push(...more)
    if (more.length > 0 && one.row.first_run < oldest) oldest = one.row.first_run
  }
  return runs
}

const oldestOf = (matches: ReadonlyArray<SegmentMatches>): ReadonlyArray<Candidate> => {
  const runs: Array<Candidate> = []
  let newest = ""
  for (const one of matches.toSorted((a, b) => (a.row.first_run < b.row.first_run ? -1 : 1))) {
    const [posting] = one.list
    const [stretch] = one.stretches
    if (posting === undefined || stretch === undefined) continue
    if (runs.length > 0 && one.row.first_run > newest) break
    runs.push({ row: one.row, number: runIn(posting), flags: flagsIn(posting), of: classAt(stretch.page, posting) })
    if (one.row.last_run > newest) newest = one.row.last_run
  }
  return runs
}

/** The runs that must be read to complete the summary. */
export interface Sifted {
  readonly newest: ReadonlyArray<Candidate>
  readonly oldest: ReadonlyArray<Candidate>
  readonly touch: ReadonlyArray<Candidate>
  readonly contact: ReadonlyArray<Candidate>
  readonly unknown: ReadonlyArray<Candidate>
  readonly reusable: ReadonlyArray<Candidate>
}

export const sifted = (matches: ReadonlyArray<SegmentMatches>, want: Want): Sifted => ({
  newest: candidates(matches, want.newest, any),
  oldest: want.groups ? oldestOf(matches) : [],
  touch: candidates(matches, 1, touches),
  contact: candidates(matches, 1, contacts),
  unknown: candidates(matches, 1, unknowns),
  reusable: candidates(matches, want.reusable, lookups)
})

interface Sum {
  count: number
  charged: bigint
}
const put = (sums: Map<RunKind, Sum>, { kind, charged }: RunClass, count: number) => {
  const sum = sums.get(kind)
  if (sum === undefined) sums.set(kind, { count, charged: charged * BigInt(count) })
  else {
    sum.count += count
    sum.charged += charged * BigInt(count)
  }
}

/** Counts runs by class first and groups the classes afterwards, because a hundred thousand runs may match. */
const groupsOf = (matches: ReadonlyArray<SegmentMatches>, unindexed: ReadonlyArray<Match>): ReadonlyArray<Group> => {
  const sums = new Map<RunKind, Sum>()
  for (const { list, stretches } of matches) {
    for (const { page, from, to } of stretches) {
      const counts = new Uint32Array(page.classes.length)
      for (let n = from; n < to; n++) {
        const of = numberOf(page, list[n] ?? 0)
        counts[of] = (counts[of] ?? 0) + 1
      }
      counts.forEach((count, of) => {
        if (count > 0) put(sums, classIn(page, of), count)
      })
    }
  }
  for (const { run } of unindexed) put(sums, run, 1)
  const groups = new Map<string, Group>()
  for (const [{ status, capability, endpoint }, { count, charged }] of sums) {
    const name = JSON.stringify([status, capability, endpoint])
    const group = groups.get(name) ?? { status, capability, endpoint, count: 0, charged: 0n }
    groups.set(name, { ...group, count: group.count + count, charged: group.charged + charged })
  }
  return [...groups.values()]
}

/**
 * Applies the finding about the latest touch with an unknown outcome: a delivered one becomes the contact, another one is dropped. After a later
 * contact the unknown one no longer matters.
 */
export const withFinding = (summary: SubjectSummary, finding: string | undefined): SubjectSummary => {
  const { unknown, contact } = summary
  if (unknown === null) return summary
  if (contact !== null && contact.run_id > unknown.run_id) return { ...summary, unknown: null }
  if (finding === undefined) return summary
  return { ...summary, unknown: null, contact: finding === "delivered" ? unknown : contact }
}

const newestFirst = ({ run: a }: Match, { run: b }: Match) => (a.run_id < b.run_id ? 1 : a.run_id > b.run_id ? -1 : 0)

/** `runOf` returns the run of a candidate that was read. */
export const summaryOf = (
  matches: ReadonlyArray<SegmentMatches>,
  unindexed: ReadonlyArray<Match>,
  {
    from,
    runOf,
    want,
    not
  }: {
    readonly from: Sifted
    readonly runOf: (candidate: Candidate) => Run
    readonly want: Want
    readonly not: NoLookups
  }
): SubjectSummary => {
  const read = (old: ReadonlyArray<Candidate>) => old.map((one): Match => ({ run: runOf(one), flags: one.flags }))
  const top = (old: ReadonlyArray<Candidate>, limit: number, rule: Rule) =>
    [...read(old), ...unindexed.filter(({ run, flags }) => meets(rule, traitsIn(run, not), flags))]
      .sort(newestFirst)
      .slice(0, limit)
  const oldest = want.groups ? [...read(from.oldest), ...unindexed].sort(newestFirst) : []
  return {
    count: matches.reduce((sum, { list }) => sum + list.length, unindexed.length),
    groups: want.groups ? groupsOf(matches, unindexed) : [],
    newest: top(from.newest, want.newest, any),
    oldest: oldest.at(-1)?.run ?? null,
    touch: top(from.touch, 1, touches)[0]?.run ?? null,
    contact: top(from.contact, 1, contacts)[0]?.run ?? null,
    unknown: top(from.unknown, 1, unknowns)[0]?.run ?? null,
    reusable: top(from.reusable, want.reusable, lookups).map(({ run }) => run)
  }
}
