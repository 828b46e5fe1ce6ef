/** History: what the organization already knows about a subject, and its erasure. Nothing here moves money. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Catalog } from "../../layers/catalog/Catalog.ts"
import { UnknownOutcomes } from "../../layers/runs/UnknownOutcomes.ts"
import { Erasure } from "../../layers/history/Erasure.ts"
import { type SubjectSummary, withFinding } from "../../layers/history/index/SubjectSummary.ts"
import type { IndexBehind } from "../../layers/history/FreshRuns.ts"
import { HistoryStore } from "../../layers/history/HistoryStore.ts"
import { noLookups } from "../../layers/history/index/Lookups.ts"
import { problem } from "../../schema/Errors.ts"
import { detect, type Kind, readAs } from "../../schema/subjects/Subject.ts"
import { Api } from "../api/Api.ts"
import { CurrentCaller, listLimitDefault } from "../api/shapes/Common.ts"
import { batchView, historyText, unseen } from "../views/HistoryView.ts"
import { said } from "../../schema/Hints.ts"
import { signIn } from "../../schema/Steps.ts"

const unreadable = (kind: Kind | undefined) =>
  kind === undefined ? "is not readable as a subject" : `does not read as ${kind}; leave kind out to have it detected`

const subjectOf = (q: string, kind: Kind | undefined) => {
  const subject = kind === undefined ? detect(q) : readAs(q, kind)
  if (subject !== null) return Effect.succeed({ query: q, ...subject })
  const message = unreadable(kind)
  return Effect.fail(problem("invalid_request", `query.q ${message}`, [{ path: "query.q", message }]))
}

/** After an upgrade old runs are put into the index for a while: a client asks again instead of waiting. */
const timely = <A>(question: Effect.Effect<A, IndexBehind>) =>
  Effect.catchTag(question, "IndexBehind", ({ message }) => Effect.fail(problem("service_unavailable", message)))

export const HistoryHandlers = HttpApiBuilder.group(
  Api,
  "history",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* HistoryStore
    const erasure = yield* Erasure
    const outcomes = yield* UnknownOutcomes
    const not = noLookups(yield* Catalog)
    const findingsOf = (all: Iterable<SubjectSummary>) =>
      outcomes.findings([...all].flatMap(({ unknown }) => (unknown === null ? [] : [unknown.run_id])))

    return handlers.handleAll({
      get: Effect.fnUntraced(function* ({ query }) {
        const { org_id } = yield* CurrentCaller
        const limit = query.limit ?? listLimitDefault
        const subject = yield* subjectOf(query.q, query.kind)
        const { matches: rows, facts: indexed } = yield* timely(store.known(org_id, subject, limit, not))
        const facts = withFinding(indexed, (yield* findingsOf([indexed])).get(indexed.unknown?.run_id ?? ""))
        const text = historyText(subject, { rows, limit, facts, not })
        return HttpServerResponse.text(text, { contentType: "application/json" })
      }),

      batch: Effect.fnUntraced(function* ({ payload }) {
        const { org_id } = yield* CurrentCaller
        const kind = payload.kind ?? undefined
        const subjects = payload.subjects.map((query) => (kind === undefined ? detect(query) : readAs(query, kind)))
        // Subjects that read alike share the question.
        const names = subjects.map((subject) => (subject === null ? "" : `${subject.kind} ${subject.normalized}`))
        const different = new Map(
          subjects.flatMap((subject, n) => (subject === null ? [] : [[names[n] ?? "", subject]]))
        )
        const found = yield* timely(store.batch(org_id, [...different.values()], not))
        const findings = yield* findingsOf(found.values())
        const items = payload.subjects.map((query, position) => {
          const subject = subjects[position] ?? null
          if (subject === null) {
            const error = { code: "invalid_request", message: `"${query.slice(0, 100)}" ${unreadable(kind)}` }
            return { query, kind: kind ?? null, normalized: null, ...unseen, error }
          }
          const facts = found.get(different.get(names[position] ?? "") ?? subject)
          const row =
            facts === undefined ? unseen : batchView(withFinding(facts, findings.get(facts.unknown?.run_id ?? "")))
          return { query, kind: subject.kind, normalized: subject.normalized, ...row }
        })
        const known = items.filter((item) => !("error" in item))
        const seen = known.filter((item) => item.seen).length
        const contacted = known.filter((item) => item.contacted).length
        return { items, seen, unseen: known.length - seen, contacted }
      }),

      erase: Effect.fnUntraced(function* ({ query }) {
        const { org_id, user_id } = yield* CurrentCaller
        if (user_id === null) {
          return yield* Effect.fail(
            problem(
              "forbidden",
              said`An API key can't erase history; sign in with ${signIn} and use the session token.`
            )
          )
        }
        const subject = yield* subjectOf(query.q, query.kind)
        const { erased, in_flight } = yield* timely(erasure.subject(org_id, subject))
        return { subject, erased, in_flight }
      })
    })
  })
)
