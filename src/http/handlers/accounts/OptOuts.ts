/** Opt-out lists: that of an organization, and that of the service. */
import { Array as Arr, Effect, Option, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { type NewOptOut, OptOuts } from "../../../layers/guards/OptOuts.ts"
import { refused, refusedWith } from "../../../schema/Errors.ts"
import {
  hasOptOutHeader,
  type OptOutKey,
  type OptOutSource,
  optOutReasonMax,
  optOutRefusalsMax,
  readOptOut
} from "../../../schema/guards/OptOut.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { OptOut, OptOutCheck } from "../../../schema/nouns/OptOut.ts"
import { csvLines, csvRows, plainCell } from "../../api/shapes/Csv.ts"
import { makeAsOperator } from "../../access/OperatorCookie.ts"
import { group } from "../group.ts"
import type { CurrentOperator } from "../../api/operator/OperatorAuth.ts"
import type { OptOutCheckRequest, OptOutRequest } from "../../api/OptOuts.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { makeAsCaller } from "../../middleware/Bearer.ts"
import { linesOfBody } from "../../submission/CsvLines.ts"
import { pageOf, type PageQuery } from "../ListPage.ts"

const view = Schema.encodeSync(OptOut)
const checkJson = Schema.encodeSync(OptOutCheck)

const nameOf = ({ kind, digest }: OptOutKey) => `${kind} ${digest}`

const exportedColumns = ["kind", "digest", "hint", "source", "reason", "created_at"] as const
const exportedAtOnce = 1_000

/** Characters of a row's text that a refusal repeats. */
const shownCharsMax = 100

/**
 * The entries of a CSV. A text says why a row has none. Without a column that is known, the first one has the values, and the first line is one
 * of them if it can be read.
 */
const entriesOf = (written: ReadonlyArray<ReadonlyArray<string>>) => {
  const lines = written.map((line) => line.map(plainCell))
  const [first = []] = lines
  const names = first.map((name) => name.toLowerCase())
  const hasDigests = names.includes("kind") && names.includes("digest")
  const value = Math.max(0, names.indexOf("value"))
  return lines.slice(hasOptOutHeader(first) ? 1 : 0).map((line): NewOptOut | string => {
    const cell = (name: string) => line[names.indexOf(name)] ?? ""
    const text = hasDigests ? `${cell("kind")}:${cell("digest")}` : (line[value] ?? "")
    const entry = readOptOut(text)
    if (entry === null)
      return text === ""
        ? "it is empty"
        : `${JSON.stringify(text.slice(0, shownCharsMax))} is no address, domain, phone number or profile`
    const hint = entry.hint ?? (cell("hint").slice(0, 200) || null)
    return { ...entry, hint, reason: cell("reason").slice(0, optOutReasonMax) || null }
  })
}

/** A run of the organization waits for no more than this many. What is added stays if a later part fails, and may be sent again. */
const addedAtOnce = 500

/** `by` makes a change in the name of the caller, for the audit log. `list` is the organization, and null for the service. */
const handlersOf = <Who>(
  by: <A, E, R>(change: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R | Who>,
  list: Effect.Effect<string | null, never, Who>
) =>
  Effect.map(OptOuts, (store) => {
    /** A text says why a row has no entry. */
    const add = Effect.fnUntraced(function* (rows: ReadonlyArray<NewOptOut | string>, source: OptOutSource) {
      const org_id = yield* list
      const entries = rows.filter((entry) => typeof entry !== "string")
      if (!(yield* store.fits(org_id, entries)))
        return yield* refused(
          "values",
          `would be more than the ${store.max.toLocaleString("en")} opt-outs that an organization may have; remove some, or ask the operator`
        )
      let added = 0
      for (const part of Arr.chunksOf(entries, addedAtOnce)) added += yield* by(store.add(org_id, part, source))
      const wrong = rows.flatMap((why, n) => (typeof why === "string" ? [`row ${n + 1}: ${why}`] : []))
      const refusals = wrong.slice(0, optOutRefusalsMax)
      return { added, already: entries.length - added, refused: wrong.length, refusals }
    })
    return {
      list: ({ query }: { readonly query: PageQuery }) =>
        Effect.flatMap(list, (org_id) =>
          pageOf("opt", query, (before, limit) => store.list(org_id, before, limit), view)
        ),

      add: Effect.fnUntraced(function* ({ payload }: { readonly payload: typeof OptOutRequest.Type }) {
        const { values, reason = null, source } = payload
        const entries = values.map(readOptOut)
        if (entries.includes(null))
          return yield* refused(
            `values.${entries.indexOf(null)}`,
            "must be an e-mail address, a domain, a phone number such as +14155550123, a profile such as linkedin.com/in/jane-doe, or a digest such as email:<SHA-256>"
          )
        return yield* add(
          entries.flatMap((entry) => entry ?? []).map((entry) => ({ ...entry, reason })),
          source ?? "api"
        )
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
        const entries = entriesOf(yield* linesOfBody(payload))
        if (entries.length === 0) return yield* refused("body", "has no rows: send a header line and at least one row")
        return yield* add(entries, "import")
      }),

      export: () =>
        Effect.map(list, (org_id) => {
          const rows = Stream.paginate(null, (before: string | null) =>
            Effect.map(store.list(org_id, before, exportedAtOnce), (rows) => {
              const items = rows.map((row) => view(row))
              const last = Option.fromUndefinedOr(rows.at(-1)?.id)
              return [[csvRows(exportedColumns, items)], last]
            })
          )
          const text = Stream.concat(Stream.succeed(csvLines([exportedColumns])), rows)
          return HttpServerResponse.stream(Stream.encodeText(text), {
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
