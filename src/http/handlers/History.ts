/** History: what the organization already knows about a subject, and its erasure. Nothing here moves money. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Catalog } from "../../layers/catalog/Catalog.ts"
import { UnknownOutcomes } from "../../layers/runs/UnknownOutcomes.ts"
import { Erasure } from "../../layers/history/Erasure.ts"
import { type SubjectSummary, withFinding } from "../../layers/history/index/SubjectSummary.ts"
import type { IndexBehind } from "../../layers/history/FreshRuns.ts"
import { Reads } from "../../layers/standby/Reads.ts"
import { noLookups } from "../../layers/history/index/Lookups.ts"
import { refused, refusedWith } from "../../schema/Errors.ts"
import { shownName } from "../../schema/json/StorableText.ts"
import { detect, type SubjectKind, readAs } from "../../schema/subjects/Subject.ts"
import { group } from "./group.ts"
import { CurrentCaller, listLimitDefault } from "../api/shapes/Common.ts"
import { batchView, historyText, unseen } from "./HistoryAnswer.ts"

const unreadable = (kind: SubjectKind | undefined) =>
  kind === undefined
    ? "can't be read as a subject: give an e-mail address, domain, profile, URL, handle, phone number or words"
    : `can't be read as ${kind}; leave kind out to have it detected`

const subjectOf = (q: string, kind: SubjectKind | undefined) => {
  const subject = kind === undefined ? detect(q) : readAs(q, kind)
  if (subject !== null) return Effect.succeed({ query: q, ...subject })
  return refused("query.q", unreadable(kind))
}

/** While old runs are indexed after an upgrade, clients get `service_unavailable` and ask again later. */
const whenIndexed = <A>(question: Effect.Effect<A, IndexBehind>) =>
  Effect.catchTag(question, "IndexBehind", ({ message }) => refusedWith("service_unavailable", message))

export const HistoryHandlers = group(
  "history",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Reads
    const erasure = yield* Erasure
    const outcomes = yield* UnknownOutcomes
    const excluded = noLookups(yield* Catalog)
    const findingsOf = (all: Iterable<SubjectSummary>) =>
      outcomes.findings([...all].flatMap(({ unknown }) => (unknown === null ? [] : [unknown.run_id])))

    return handlers.handleAll({
      get: Effect.fnUntraced(function* ({ query }) {
        const { org_id, access } = yield* CurrentCaller
        const limit = query.limit ?? listLimitDefault
        const subject = yield* subjectOf(query.q, query.kind)
        const {
          matches: rows,
          cut,
          facts: indexed
        } = yield* whenIndexed(store.subjectHistory(org_id, subject, limit, excluded, access?.reads ?? null))
        const summary = withFinding(indexed, (yield* findingsOf([indexed])).get(indexed.unknown?.run_id ?? ""))
        const text = historyText(subject, { rows, limit, cut, summary, excluded })
        return HttpServerResponse.text(text, { contentType: "application/json" })
      }),

      batch: Effect.fnUntraced(function* ({ payload }) {
        const { org_id, access } = yield* CurrentCaller
        const kind = payload.kind ?? undefined
        const subjects = payload.subjects.map((query) => (kind === undefined ? detect(query) : readAs(query, kind)))
        // Subjects with the same normalized form are looked up once.
        const names = subjects.map((subject) => (subject === null ? "" : `${subject.kind} ${subject.normalized}`))
        const distinct = new Map(
          subjects.flatMap((subject, n) => (subject === null ? [] : [[names[n] ?? "", subject]]))
        )
        const summaries = yield* whenIndexed(
          store.batch(org_id, [...distinct.values()], excluded, 1, access?.reads ?? null)
        )
        const findings = yield* findingsOf(summaries.values())
        const items = payload.subjects.map((query, position) => {
          const subject = subjects[position] ?? null
          if (subject === null) {
            const error = { code: "invalid_request", message: `"${shownName(query)}" ${unreadable(kind)}` }
            return { query, kind: kind ?? null, normalized: null, ...unseen, error }
          }
          const summary = summaries.get(distinct.get(names[position] ?? "") ?? subject)
          const row =
            summary === undefined
              ? unseen
              : batchView(withFinding(summary, findings.get(summary.unknown?.run_id ?? "")))
          return { query, kind: subject.kind, normalized: subject.normalized, ...row }
        })
        const readable = items.filter((item) => !("error" in item))
        const seen = readable.filter((item) => item.seen).length
        const contacted = readable.filter((item) => item.contacted).length
        return { items, seen, unseen: readable.length - seen, contacted }
      }),

      erase: Effect.fnUntraced(function* ({ query }) {
        const { org_id } = yield* CurrentCaller
        const subject = yield* subjectOf(query.q, query.kind)
        const { erased, in_flight } = yield* whenIndexed(erasure.subject(org_id, subject))
        return { subject, erased, in_flight }
      })
    })
  })
)
