/**
 * Questions about subjects: which runs of an organization name one, and what they come to. Reads only.
 *
 * The index (Finder.ts) says which; of those that are shown the run itself is read, of the organization that asks, so nothing of another's can
 * appear.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { texts } from "../Columns.ts"
import type { Facts } from "./Facts.ts"
import { Finder } from "./Finder.ts"
import type { IndexBehind } from "./FreshRuns.ts"
import { jsonColumns } from "./IndexedRun.ts"
import type { NoLookups } from "./Lookups.ts"
import { type Matched, matchedIn, somewhere } from "./Matched.ts"
import { subjectTerm } from "./Subjects.ts"
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
  readonly facts: Facts
}

/** Of a subject at most so many lookups that can be read again are told. */
const reusablesMax = 50
/** Of a batch: each phrase may be in a hundred thousand runs, and their numbers stand in memory together. */
const phrasesAtOnce = 32
/** Results that are looked through in one go, and characters of them for one page: a second's work, were they all made to take long. */
const resultsAtOnce = 50
const resultCharsMax = 8_000_000
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
    ) => Effect.Effect<ReadonlyMap<Subject, Facts>, IndexBehind>
    /** The ids of the newest runs, so many. */
    readonly newest: (
      org_id: string,
      subject: Subject,
      limit: number
    ) => Effect.Effect<ReadonlyArray<string>, IndexBehind>
  }
>()("rungate/layers/HistoryStore") {
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

      type Shown = Omit<MatchRow, "matched"> & { readonly plan: string | null }
      const rowsOf = (org_id: string, run_ids: ReadonlyArray<string>) => sql<Shown>`
        SELECT r.run_id, coalesce(o.state, r.status) AS status, r.kind, r.capability, r.endpoint, r.provider, r.charged, r.created_at,
               r.input::text AS input, CASE WHEN r.capability IS NULL THEN r.plan::text END AS plan
        FROM unnest(${texts(run_ids)}) AS n(run_id) JOIN runs r ON r.org_id = ${org_id} AND r.run_id = n.run_id
        LEFT JOIN open_runs o ON o.run_id = r.run_id WHERE r.erased_at IS NULL ORDER BY r.run_id DESC`

      interface Texts {
        readonly run_id: string
        readonly capability: string | null
        readonly input: string
        readonly plan: string | null
        readonly result: string | null
      }
      /** Of those that the input doesn't name already. */
      const inResults = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>, subject: Subject) {
        const found = new Map<string, Matched>()
        let room = resultCharsMax
        let breath = 0
        for (let from = 0; from < run_ids.length && room > 0; from += resultsAtOnce) {
          const rows = yield* sql<Texts>`
            SELECT r.run_id, ${jsonColumns(sql, "whole")} FROM unnest(${texts(run_ids.slice(from, from + resultsAtOnce))}) AS n(run_id)
            JOIN runs r ON r.org_id = ${org_id} AND r.run_id = n.run_id WHERE r.result IS NOT NULL ORDER BY r.run_id DESC`
          for (const row of rows) {
            if (room <= 0) break
            room -= row.result?.length ?? 0
            const matched = matchedIn(row, subject)
            if (matched !== null) found.set(row.run_id, matched)
            breath += row.result?.length ?? 0
            if (breath < breathChars) continue
            breath = 0
            yield* Effect.yieldNow
          }
        }
        return found
      })

      const matches = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>, subject: Subject) {
        if (run_ids.length === 0) return []
        const rows = yield* rowsOf(org_id, run_ids)
        const asked = new Map(rows.map((row) => [row.run_id, matchedIn({ ...row, result: null }, subject)]))
        const unsure = rows.map((row) => row.run_id).filter((run_id) => asked.get(run_id)?.exact !== true)
        const brought = unsure.length === 0 ? new Map<string, Matched>() : yield* inResults(org_id, unsure, subject)
        return rows.map(
          (row): MatchRow => ({
            ...row,
            matched: brought.get(row.run_id) ?? asked.get(row.run_id) ?? somewhere
          })
        )
      }, Effect.orDie)

      const known = Effect.fnUntraced(function* (org_id: string, subject: Subject, limit: number, not: NoLookups) {
        const facts = yield* one(org_id, subject, limit, not)
        const newest = facts?.newest.map((run) => run.run_id) ?? []
        return { matches: yield* matches(org_id, newest, subject), facts: facts ?? nothing }
      })

      const batch = Effect.fnUntraced(function* (org_id: string, subjects: ReadonlyArray<Subject>, not: NoLookups) {
        const phrases = subjects.filter((subject) => subject.kind === "text")
        const others = subjects.filter((subject) => subject.kind !== "text")
        const asked = { want: inBatch, not }
        const all = new Map<Subject, Facts>()
        const keep = (of: ReadonlyArray<Subject>, facts: ReadonlyArray<Facts>) =>
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
          Effect.map(one(org_id, subject, limit, nobody), (facts) => facts?.newest.map((run) => run.run_id) ?? [])
      })
    })
  )
}

/** Whoever asks for runs only. */
const nobody: NoLookups = { capabilities: [], providers: [] }

const nothing: Facts = {
  ...{ count: 0, groups: [], newest: [], oldest: null, touch: null, contact: null, reusable: [] }
}
