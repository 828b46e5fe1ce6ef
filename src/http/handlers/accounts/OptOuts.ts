/** Opt-out lists: that of an organization, and that of the service. */
import { Effect, Option, Result, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { inSlices } from "../../../layers/platform/inSlices.ts"
import { type NewOptOut, OptOuts } from "../../../layers/guards/OptOuts.ts"
import { refused, refusedWith } from "../../../schema/Errors.ts"
import {
  type OptOutKey,
  type OptOutSource,
  optOutReasonMax,
  optOutsMax,
  readOptOut
} from "../../../schema/guards/OptOut.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { OptOut, OptOutCheck } from "../../../schema/nouns/OptOut.ts"
import { csvLines as csvOf, csvRows } from "../../api/shapes/Csv.ts"
import { makeAsOperator } from "../../access/OperatorCookie.ts"
import { group } from "../group.ts"
import type { CurrentOperator } from "../../api/operator/OperatorAuth.ts"
import type { OptOutCheckRequest, OptOutRequest } from "../../api/OptOuts.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { makeAsCaller } from "../../middleware/Bearer.ts"
import { csvLines } from "../../submission/CsvLines.ts"
import { pageOf, type PageQuery } from "../ListPage.ts"

const view = Schema.encodeSync(OptOut)
const checkJson = Schema.encodeSync(OptOutCheck)

const nameOf = ({ kind, digest }: OptOutKey) => `${kind} ${digest}`

const exportedColumns = ["kind", "digest", "hint", "source", "reason", "created_at"] as const
const exportedAtOnce = 1_000
/** Refused rows of an import that the answer names. */
const refusalsMax = 20

const full = refused(
  "values",
  `would be more than the ${optOutsMax.toLocaleString("en")} opt-outs that an organization may have; remove some, or ask the operator`
)

/** The rows of a CSV. Without a column that is known, the first one has the values, and the first line is one of them if it can be read. */
const rowsOf = (lines: ReadonlyArray<ReadonlyArray<string>>) => {
  const [first = []] = lines
  const names = first.map((name) => name.toLowerCase())
  const at = (name: string) => names.indexOf(name)
  const hasDigests = at("kind") >= 0 && at("digest") >= 0
  const column = Math.max(0, at("value"))
  const hasHeader = hasDigests || at("value") >= 0 || readOptOut(first[0] ?? "") === null
  return lines.slice(hasHeader ? 1 : 0).map((line, index) => {
    const cell = (name: string) => (at(name) < 0 ? "" : (line[at(name)] ?? ""))
    const text = hasDigests ? `${cell("kind")}:${cell("digest")}` : (line[column] ?? "")
    return { row: index + 1, text, hint: cell("hint"), reason: cell("reason").slice(0, optOutReasonMax) }
  })
}

/** Makes a change in the name of the caller, for the audit log. */
type By<Who> = <A, E, R>(change: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R | Who>

/** A run of the organization waits for no more than this many. What is added stays if a later part fails, and may be sent again. */
const addedAtOnce = 500

/** `list` is the organization, and null for the service. */
const handlersOf = <Who>(by: By<Who>, list: Effect.Effect<string | null, never, Who>) =>
  Effect.map(OptOuts, (store) => {
    const add = Effect.fnUntraced(function* (
      entries: ReadonlyArray<NewOptOut>,
      source: OptOutSource,
      wrong: ReadonlyArray<number> = []
    ) {
      const org_id = yield* list
      if (!(yield* store.fits(org_id, entries.length))) return yield* full
      let added = 0
      for (let from = 0; from < entries.length; from += addedAtOnce)
        added += yield* by(store.add(org_id, entries.slice(from, from + addedAtOnce), { source }))
      const refusals = wrong.slice(0, refusalsMax).map((row) => `row ${row} has no value that can be read`)
      return { added, already: entries.length - added, refused: wrong.length, refusals }
    })
    return {
      list: ({ query }: { readonly query: PageQuery }) =>
        Effect.flatMap(list, (org_id) =>
          pageOf("opt", query, (before, limit) => store.list(org_id, before, limit), view)
        ),

      add: Effect.fnUntraced(function* ({ payload }: { readonly payload: typeof OptOutRequest.Type }) {
        const { values, reason = null, source } = payload
        const entries: Array<NewOptOut> = []
        for (const [index, value] of values.entries()) {
          const entry = readOptOut(value)
          if (entry === null)
            return yield* refused(
              `values.${index}`,
              "must be an e-mail address, a domain, a phone number such as +14155550123, a profile such as linkedin.com/in/jane-doe, or a digest such as email:<SHA-256>"
            )
          entries.push({ ...entry, reason })
        }
        return yield* add(entries, source ?? "api")
      }),

      check: Effect.fnUntraced(function* ({ payload }: { readonly payload: typeof OptOutCheckRequest.Type }) {
        const checks = payload.values.map((value) => {
          const read = readOptOut(value)
          return { value, read, keys: read?.covering() ?? [] }
        })
        const keys = checks.flatMap((one) => one.keys)
        const rows = new Map((yield* store.having(yield* list, keys)).map((row) => [nameOf(row), row]))
        const items = checks.map(({ value, read, keys }) => {
          const [row] = keys.flatMap((key) => rows.get(nameOf(key)) ?? [])
          const { kind = null, digest = null } = read ?? {}
          const { id: opt_out_id = null, created_at: since = null } = row ?? {}
          return checkJson({ value, kind, digest, opted_out: row !== undefined, opt_out_id, since })
        })
        return { items }
      }),

      import: Effect.fnUntraced(function* ({ payload }: { readonly payload: string }) {
        const read = yield* inSlices(csvLines(payload))
        if (Result.isFailure(read)) return yield* refused("body", read.failure)
        const rows = rowsOf(read.success)
        if (rows.length === 0) return yield* refused("body", "has no rows: send a header line and at least one row")
        const entries: Array<NewOptOut> = []
        const wrong: Array<number> = []
        for (const { row, text, hint, reason } of rows) {
          const entry = readOptOut(text)
          if (entry === null) wrong.push(row)
          else entries.push({ ...entry, hint: entry.hint ?? (hint.slice(0, 200) || null), reason: reason || null })
        }
        return yield* add(entries, "import", wrong)
      }),

      export: () =>
        Effect.map(list, (org_id) => {
          const text = Stream.paginate("", (before: string) =>
            Effect.map(store.list(org_id, before || null, exportedAtOnce), (rows) => {
              const items = rows.map((row) => view(row))
              const part = `${before === "" ? csvOf([exportedColumns]) : ""}${csvRows(exportedColumns, items)}`
              const last = rows.length === exportedAtOnce ? rows.at(-1) : undefined
              return [[Buffer.from(part)], last === undefined ? Option.none() : Option.some(last.id)] as const
            })
          )
          return HttpServerResponse.stream(text, {
            contentType: "text/csv; charset=utf-8",
            headers: { "content-disposition": `attachment; filename="opt-outs.csv"` }
          })
        }),

      remove: Effect.fnUntraced(function* ({ params }: { readonly params: { readonly opt_out_id: string } }) {
        const id = params.opt_out_id
        if (looksLike("opt", id) && (yield* by(store.remove(yield* list, id)))) return { id, deleted: true as const }
        return yield* refusedWith("not_found", "This list has no such opt-out.", [
          { path: "path.opt_out_id", message: "is no opt-out of this list" }
        ])
      })
    }
  })

export const OptOutsHandlers = group(
  "optOuts",
  Effect.fnUntraced(function* (handlers) {
    const organization = Effect.map(CurrentCaller, ({ org_id }) => org_id)
    return handlers.handleAll(yield* handlersOf<CurrentCaller>(yield* makeAsCaller, organization))
  })
)

export const OperatorOptOutsHandlers = group(
  "operatorOptOuts",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll(yield* handlersOf<CurrentOperator>(yield* makeAsOperator, Effect.succeed(null)))
  })
)
