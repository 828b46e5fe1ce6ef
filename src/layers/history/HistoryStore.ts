/**
 * Questions about subjects: which runs of an organization name one, and what they come to. Reads only.
 *
 * The index (Finder.ts) says which; of those that are shown the run itself is read, of the organization that asks, so nothing of another's can
 * appear.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { texts } from "../postgres/Columns.ts"
import type { SubjectSummary, Found } from "./index/SubjectSummary.ts"
import { Finder } from "./Finder.ts"
import type { IndexBehind } from "./FreshRuns.ts"
import { jsonText } from "./index/IndexedRun.ts"
import type { NoLookups } from "./index/Lookups.ts"
import { type Matched, matchedIn, somewhere } from "./Matched.ts"
import { subjectTerm } from "./index/Subjects.ts"
import { named } from "../../schema/segments/Segment.ts"
import { queryKeys, type Subject } from "../../schema/subjects/Subject.ts"
import { phraseOf, seedOf } from "../../schema/words/Term.ts"

export interface MatchRow {
  readonly run_id: string
  readonly status: string
  readonly kind: "capability" | "endpoint"
  readonly capability: string | null
  readonly endpoint: string | null
  readonly provider: string | null
  readonly charged: bigint | null
  readonly created_at: Date
  /** JSON text. */
  readonly input: string
  readonly matched: Matched
}

/** What a question about one subject wants. */
export interface Known {
  /** Newest first. */
  readonly matches: ReadonlyArray<MatchRow>
  /** Over all matches, not only those of a page. */
  readonly facts: SubjectSummary
}

/** Of a subject at most so many lookups that can be read again are told. */
const reusablesMax = 50
/** Of a batch: each phrase may be in a hundred thousand runs, and their numbers stand in memory together. */
const phrasesAtOnce = 32
/** Runs that are read in one go, and characters that are looked through for one page: two seconds' work, were they all made to take long. */
const runsAtOnce = 50
const charsMax = 8_000_000
/** Looking through so many takes a few milliseconds; then whoever else has work in the process has a turn. */
const breathChars = 200_000

const inBatch = { newest: 1, reusable: 1, groups: false }

export class HistoryStore extends Context.Service<
  HistoryStore,
  {
    readonly known: (
      org_id: string,
      subject: Subject,
      limit: number,
      not: NoLookups
    ) => Effect.Effect<Known, IndexBehind>
    /** Of each subject. */
    readonly batch: (
      org_id: string,
      subjects: ReadonlyArray<Subject>,
      not: NoLookups
    ) => Effect.Effect<ReadonlyMap<Subject, SubjectSummary>, IndexBehind>
    /** The ids of the newest runs, so many. */
    readonly newest: (
      org_id: string,
      subject: Subject,
      limit: number
    ) => Effect.Effect<ReadonlyArray<string>, IndexBehind>
  }
>()("rungate/layers/history/HistoryStore") {
  static readonly layer = Layer.effect(
    HistoryStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const finder = yield* Finder

      const termsOf = (org_id: string, subject: Subject) => queryKeys(subject).map((key) => subjectTerm(org_id, key))
      const phraseIn = (org_id: string, { normalized }: Subject) => phraseOf(normalized, seedOf(org_id))

      const one = (org_id: string, subject: Subject, newest: number, not: NoLookups) => {
        const asked = { want: { newest, reusable: reusablesMax, groups: true }, not }
        return Effect.map(
          subject.kind === "text"
            ? finder.phrases(org_id, [phraseIn(org_id, subject)], asked)
            : finder.subjects(org_id, [termsOf(org_id, subject)], asked),
          ([facts]) => facts
        )
      }

      type Shown = Omit<MatchRow, "matched"> & { readonly plan: string | null; readonly result: string | null }
      interface Sought {
        readonly run_id: string
        /** Its result need not be looked through. */
        readonly sure: boolean
      }
      const idsOf = (sought: ReadonlyArray<Sought>) => sought.map((one) => one.run_id)
      const rowsOf = (org_id: string, sought: ReadonlyArray<Sought>) => sql<Shown>`
        SELECT r.run_id, coalesce(o.state, r.status) AS status, r.kind, r.capability, r.endpoint, r.provider, r.charged, r.created_at,
               r.input::text AS input, CASE WHEN r.capability IS NULL THEN r.plan::text END AS plan,
               CASE WHEN r.run_id = ANY(${texts(idsOf(sought.filter((one) => !one.sure)))}) THEN ${jsonText(sql, "result", "whole")} END AS result
        FROM runs r LEFT JOIN open_runs o ON o.run_id = r.run_id
        WHERE r.org_id = ${org_id} AND r.run_id = ANY(${texts(idsOf(sought))}) AND r.erased_at IS NULL ORDER BY r.run_id DESC`

      const matches = Effect.fnUntraced(function* (org_id: string, found: ReadonlyArray<Found>, subject: Subject) {
        const all: Array<MatchRow> = []
        let room = charsMax
        let breath = 0
        for (let from = 0; from < found.length; from += runsAtOnce) {
          const sure = ({ flags }: Found) => room <= 0 || (subject.kind !== "text" && (flags & named) !== 0)
          const page = found.slice(from, from + runsAtOnce)
          for (const { plan, result, ...row } of yield* rowsOf(
            org_id,
            page.map((one) => ({ run_id: one.run.run_id, sure: sure(one) }))
          )) {
            const texts = { ...row, plan, result: room > 0 ? result : null }
            all.push({ ...row, matched: matchedIn(texts, subject) ?? somewhere })
            const chars = row.input.length + (texts.result?.length ?? 0)
            room -= chars
            breath += chars
            if (breath < breathChars) continue
            breath = 0
            yield* Effect.yieldNow
          }
        }
        return all
      }, Effect.orDie)

      const known = Effect.fnUntraced(function* (org_id: string, subject: Subject, limit: number, not: NoLookups) {
        const facts = yield* one(org_id, subject, limit, not)
        return { matches: yield* matches(org_id, facts?.newest ?? [], subject), facts: facts ?? nothing }
      })

      const batch = Effect.fnUntraced(function* (org_id: string, subjects: ReadonlyArray<Subject>, not: NoLookups) {
        const phrases = subjects.filter((subject) => subject.kind === "text")
        const others = subjects.filter((subject) => subject.kind !== "text")
        const asked = { want: inBatch, not }
        const all = new Map<Subject, SubjectSummary>()
        const keep = (of: ReadonlyArray<Subject>, facts: ReadonlyArray<SubjectSummary>) =>
          of.forEach((subject, n) => all.set(subject, facts[n] ?? nothing))
        if (others.length > 0) {
          const terms = others.map((subject) => termsOf(org_id, subject))
          keep(others, yield* finder.subjects(org_id, terms, asked))
        }
        for (let from = 0; from < phrases.length; from += phrasesAtOnce) {
          const some = phrases.slice(from, from + phrasesAtOnce)
          const sought = some.map((phrase) => phraseIn(org_id, phrase))
          keep(some, yield* finder.phrases(org_id, sought, asked))
        }
        return all
      })

      return HistoryStore.of({
        known,
        batch,
        newest: (org_id, subject, limit) =>
          Effect.map(one(org_id, subject, limit, nobody), (facts) => facts?.newest.map(({ run }) => run.run_id) ?? [])
      })
    })
  )
}

/** Whoever asks for runs only. */
const nobody: NoLookups = { capabilities: [], providers: [] }

const nothing: SubjectSummary = {
  ...{ count: 0, groups: [], newest: [], oldest: null, touch: null, contact: null, unknown: null, reusable: [] }
}
