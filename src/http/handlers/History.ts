/** History: what is known about a subject. Reads, but for erasure; nothing here touches money. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Catalog } from "../../layers/Catalog.ts"
import { Erasure } from "../../layers/Erasure.ts"
import { HistoryStore, type Sought } from "../../layers/HistoryStore.ts"
import { noLookups } from "../../layers/Lookups.ts"
import { subjectHash } from "../../layers/Subjects.ts"
import { problem } from "../../schema/Errors.ts"
import { detect, type Kind, queryKeys, readAs, type Subject } from "../../schema/subjects/Subject.ts"
import { Api } from "../api/Api.ts"
import { CurrentCaller, listLimitDefault } from "../api/Common.ts"
import { batchView, historyText, phraseView, type RowView, unseen } from "../HistoryView.ts"

const unreadable = (kind: Kind | undefined) =>
  kind === undefined ? "is not readable as a subject" : `does not read as ${kind}; leave kind out to have it detected`

const soughtOf = (org_id: string, subject: Subject): Sought =>
  subject.kind === "text"
    ? { _tag: "Phrase", phrase: subject.normalized }
    : { _tag: "Subject", subjects: queryKeys(subject).map((key) => subjectHash(org_id, key)) }

const subjectOf = (q: string, kind: Kind | undefined) => {
  const subject = kind === undefined ? detect(q) : readAs(q, kind)
  if (subject !== null) return Effect.succeed({ query: q, ...subject })
  const message = unreadable(kind)
  return Effect.fail(problem("invalid_request", `query.q ${message}`, [{ path: "query.q", message }]))
}

export const HistoryHandlers = HttpApiBuilder.group(
  Api,
  "history",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* HistoryStore
    const erasure = yield* Erasure
    const not = noLookups(yield* Catalog)

    /** One row per subject; subjects that read alike share the question. */
    const answers = Effect.fnUntraced(function* (org_id: string, subjects: ReadonlyArray<Subject | null>) {
      const hashes = subjects.flatMap((subject, position) => {
        const sought = subject === null ? null : soughtOf(org_id, subject)
        return sought?._tag === "Subject" ? sought.subjects.map((hash) => ({ position, hash })) : []
      })
      const rows = yield* store.batch(
        org_id,
        hashes.map((one) => one.position),
        hashes.map((one) => one.hash),
        not
      )
      const phrases = subjects.flatMap((subject, position) => {
        return subject?.kind === "text" ? [{ phrase: subject.normalized, position }] : []
      })
      const facts = yield* store.phrases(
        org_id,
        phrases.map((one) => one.phrase),
        not
      )
      const told = phrases.map(({ position }, n) => [position, phraseView(facts[n] ?? [])] as const)
      return new Map<number, RowView>([...rows.map((row) => [row.position, batchView(row)] as const), ...told])
    })

    return handlers.handleAll({
      get: Effect.fnUntraced(function* ({ query }) {
        const { org_id } = yield* CurrentCaller
        const limit = query.limit ?? listLimitDefault
        const subject = yield* subjectOf(query.q, query.kind)
        const sought = soughtOf(org_id, subject)
        const { matches, facts } = yield* store.known(org_id, sought, limit + 1, not)
        return HttpServerResponse.text(historyText(subject, matches, facts, limit), { contentType: "application/json" })
      }),

      batch: Effect.fnUntraced(function* ({ payload }) {
        const { org_id } = yield* CurrentCaller
        const kind = payload.kind ?? undefined
        const subjects = payload.subjects.map((query) => (kind === undefined ? detect(query) : readAs(query, kind)))
        const found = yield* answers(org_id, subjects)
        const items = payload.subjects.map((query, position) => {
          const subject = subjects[position] ?? null
          if (subject === null) {
            const error = { code: "invalid_request", message: `"${query.slice(0, 100)}" ${unreadable(kind)}` }
            return { query, kind: kind ?? null, normalized: null, ...unseen, error }
          }
          return { query, kind: subject.kind, normalized: subject.normalized, ...(found.get(position) ?? unseen) }
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
              "An API key can't erase history; sign in with POST /v1/auth/sign-in and use the session token."
            )
          )
        }
        const subject = yield* subjectOf(query.q, query.kind)
        const { erased, in_flight } = yield* erasure.subject(org_id, soughtOf(org_id, subject))
        return { subject, erased, in_flight }
      })
    })
  })
)
