/**
 * Answers queries about subjects: which runs of an organization match, and a summary of them. Reads only.
 *
 * The index (Finder.ts) finds the runs. The shown runs are then read from the organization's own rows, so another organization's data can't appear.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { texts } from "../postgres/Rows.ts"
import { pageBytesMax, runsWithin } from "../runs/runsWithin.ts"
import { runStatus } from "../runs/runStatus.ts"
import { servedBy } from "../usage/servedBy.ts"
import type { SubjectSummary, Match } from "./index/SubjectSummary.ts"
import { Finder } from "./Finder.ts"
import type { IndexBehind } from "./FreshRuns.ts"
import { jsonText } from "./index/IndexedRun.ts"
import { rowsAs } from "./index/Rows.ts"
import type { NoLookups } from "./index/Lookups.ts"
import { type Matched, matchedIn, somewhere } from "./Matched.ts"
import { subjectTerm } from "./index/Subjects.ts"
import { named } from "../../schema/segments/Segment.ts"
import { queryKeys, type Subject } from "../../schema/subjects/Subject.ts"
import { phraseOf, seedOf } from "../../schema/words/Term.ts"

const ShownRun = Schema.Struct({
  run_id: Schema.String,
  status: Schema.String,
  kind: Schema.Literals(["capability", "endpoint"]),
  capability: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  charged: Schema.NullOr(Schema.BigInt),
  created_at: Schema.Date,
  /** JSON text. */
  input: Schema.String,
  plan: Schema.NullOr(Schema.String),
  result: Schema.NullOr(Schema.String),
  /** The outcome warranty paid the run back. */
  refunded: Schema.Boolean
})
const refundedRows = rowsAs("refunded runs", Schema.Struct({ run_id: Schema.String }))
const shownRows = rowsAs("matching runs", ShownRun)

export interface MatchRow extends Omit<typeof ShownRun.Type, "plan" | "result"> {
  readonly matched: Matched
}

/** The answer to a query about one subject. */
export interface SubjectHistory {
  /** Newest first: as many as fit into a page. */
  readonly matches: ReadonlyArray<MatchRow>
  /** Further runs match, and were left out because their inputs are too long for a page. */
  readonly cut: boolean
  /** The summary of all matches, not only of those shown. */
  readonly facts: SubjectSummary
}

/** Lookups with results that can be read again, per subject. */
const reusablesMax = 50
/** Phrases of a batch per query. Each may match a hundred thousand runs, whose numbers are in memory at the same time. */
const phrasesAtOnce = 32
/** Runs per read, and characters searched for one page: at most two seconds, even for hostile texts. */
const runsAtOnce = 50
const charsMax = 8_000_000
/** Characters searched before the event loop continues: a few milliseconds. */
const yieldChars = 200_000

export class HistoryStore extends Context.Service<
  HistoryStore,
  {
    readonly subjectHistory: (
      org_id: string,
      subject: Subject,
      limit: number,
      not: NoLookups,
      /** Only runs that these API keys started. Null: all. */
      keys: ReadonlyArray<string> | null
    ) => Effect.Effect<SubjectHistory, IndexBehind>
    /** A summary for each subject, with the newest of its runs: one, if not said otherwise. */
    readonly batch: (
      org_id: string,
      subjects: ReadonlyArray<Subject>,
      not: NoLookups,
      newest?: number,
      keys?: ReadonlyArray<string> | null
    ) => Effect.Effect<ReadonlyMap<Subject, SubjectSummary>, IndexBehind>
    /** The ids of the newest matching runs, up to `limit`. */
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

      /** Runs among the reusable ones that the outcome warranty paid back. Their results are wrong, so they can't be reused. */
      const refundedIn = Effect.fnUntraced(function* (all: Iterable<SubjectSummary>) {
        const ids = [...all].flatMap(({ reusable }) => reusable.map(({ run_id }) => run_id))
        if (ids.length === 0) return new Set<string>()
        const rows = yield* refundedRows(sql`SELECT run_id FROM warranty_refunds WHERE run_id = ANY(${texts(ids)})`)
        return new Set(rows.map(({ run_id }) => run_id))
      }, Effect.orDie)
      const without = (refunded: ReadonlySet<string>, facts: SubjectSummary): SubjectSummary => ({
        ...facts,
        reusable: facts.reusable.filter(({ run_id }) => !refunded.has(run_id))
      })

      const one = (
        org_id: string,
        subject: Subject,
        newest: number,
        not: NoLookups,
        keys: ReadonlyArray<string> | null = null
      ) => {
        const query = { want: { newest, reusable: reusablesMax, groups: true }, not, keys }
        return Effect.map(
          subject.kind === "text"
            ? finder.phrases(org_id, [phraseIn(org_id, subject)], query)
            : finder.subjects(org_id, [termsOf(org_id, subject)], query),
          ([facts]) => facts
        )
      }

      interface Shown {
        readonly run_id: string
        /** The index already says that the input names the subject, so its result is not read. */
        readonly sure: boolean
      }
      const idsOf = (shown: ReadonlyArray<Shown>) => shown.map((one) => one.run_id)
      const rowsOf = (org_id: string, shown: ReadonlyArray<Shown>) =>
        shownRows(sql`
        SELECT r.run_id, ${sql.literal(runStatus)} AS status, r.kind, r.capability, r.endpoint, ${sql.literal(servedBy)} AS provider, r.charged, r.created_at,
               EXISTS (SELECT FROM warranty_refunds w WHERE w.run_id = r.run_id) AS refunded,
               r.input::text AS input, CASE WHEN r.capability IS NULL THEN r.plan::text END AS plan,
               CASE WHEN r.run_id = ANY(${texts(idsOf(shown.filter((one) => !one.sure)))}) THEN ${jsonText(sql, "result", "whole")} END AS result
        FROM runs r LEFT JOIN open_runs o ON o.run_id = r.run_id
        WHERE r.org_id = ${org_id} AND r.run_id = ANY(${texts(idsOf(shown))}) AND r.erased_at IS NULL ORDER BY r.run_id DESC`)

      const matches = Effect.fnUntraced(function* (org_id: string, newest: ReadonlyArray<Match>, subject: Subject) {
        const all: Array<MatchRow> = []
        let room = charsMax
        let left = pageBytesMax
        let sinceYield = 0
        for (let from = 0; from < newest.length; ) {
          const sure = ({ flags }: Match) => room <= 0 || (subject.kind !== "text" && (flags & named) !== 0)
          const next = newest.slice(from, from + runsAtOnce)
          const ids = next.map(({ run }) => run.run_id)
          const page = next.slice(0, yield* runsWithin(sql, org_id, ids))
          from += page.length
          for (const { plan, result, ...row } of yield* rowsOf(
            org_id,
            page.map((one) => ({ run_id: one.run.run_id, sure: sure(one) }))
          )) {
            left -= Buffer.byteLength(row.input)
            if (left < 0 && all.length > 0) return { matches: all, cut: true }
            const texts = { ...row, plan, result: room > 0 ? result : null }
            all.push({ ...row, matched: matchedIn(texts, subject) ?? somewhere })
            const chars = row.input.length + (texts.result?.length ?? 0)
            room -= chars
            sinceYield += chars
            if (sinceYield < yieldChars) continue
            sinceYield = 0
            yield* Effect.yieldNow
          }
        }
        return { matches: all, cut: false }
      }, Effect.orDie)

      const subjectHistory = Effect.fnUntraced(function* (
        org_id: string,
        subject: Subject,
        limit: number,
        not: NoLookups,
        keys: ReadonlyArray<string> | null
      ) {
        const facts = (yield* one(org_id, subject, limit, not, keys)) ?? emptySummary
        const shown = yield* matches(org_id, facts.newest, subject)
        return { ...shown, facts: without(yield* refundedIn([facts]), facts) }
      })

      const summaries = Effect.fnUntraced(function* (
        org_id: string,
        subjects: ReadonlyArray<Subject>,
        not: NoLookups,
        newest: number,
        keys: ReadonlyArray<string> | null,
        reusable: number
      ) {
        const phrases = subjects.filter((subject) => subject.kind === "text")
        const others = subjects.filter((subject) => subject.kind !== "text")
        const query = { want: { newest, reusable, groups: false }, not, keys }
        const all = new Map<Subject, SubjectSummary>()
        const keep = (of: ReadonlyArray<Subject>, facts: ReadonlyArray<SubjectSummary>) =>
          of.forEach((subject, n) => all.set(subject, facts[n] ?? emptySummary))
        if (others.length > 0) {
          const terms = others.map((subject) => termsOf(org_id, subject))
          keep(others, yield* finder.subjects(org_id, terms, query))
        }
        for (let from = 0; from < phrases.length; from += phrasesAtOnce) {
          const some = phrases.slice(from, from + phrasesAtOnce)
          const sought = some.map((phrase) => phraseIn(org_id, phrase))
          keep(some, yield* finder.phrases(org_id, sought, query))
        }
        return all
      })

      /** Refunds are rare, so only the subjects whose newest result was refunded are asked about again, for the results before it. */
      const batch = Effect.fnUntraced(function* (
        org_id: string,
        subjects: ReadonlyArray<Subject>,
        not: NoLookups,
        newest = 1,
        keys: ReadonlyArray<string> | null = null
      ) {
        const all = yield* summaries(org_id, subjects, not, newest, keys, 1)
        const refunded = yield* refundedIn(all.values())
        const hit = subjects.filter((one) => all.get(one)?.reusable.some(({ run_id }) => refunded.has(run_id)))
        if (hit.length === 0) return all
        const again = yield* summaries(org_id, hit, not, newest, keys, reusablesMax)
        const also = yield* refundedIn(again.values())
        for (const [subject, facts] of again) all.set(subject, without(also, facts))
        return all
      })

      return HistoryStore.of({
        subjectHistory,
        batch,
        newest: (org_id, subject, limit) =>
          Effect.map(
            one(org_id, subject, limit, everyRunIsLookup),
            (facts) => facts?.newest.map(({ run }) => run.run_id) ?? []
          )
      })
    })
  )
}

/** For queries that only need ids of runs. */
const everyRunIsLookup: NoLookups = { capabilities: [], providers: [] }

const emptySummary: SubjectSummary = {
  ...{ count: 0, groups: [], newest: [], oldest: null, touch: null, contact: null, unknown: null, reusable: [] }
}
