/** Batches: stores the rows of a request, and shows what became of them. BatchFeeder.ts starts them. */
import { Effect, Option, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { EventFeed } from "../../actors/events/EventFeed.ts"
import { Admission } from "../../actors/runs/Admission.ts"
import type { RunCaller } from "../../actors/runs/RunRequests.ts"
import { type BatchRow, BatchStore, type ResultRow } from "../../layers/batches/BatchStore.ts"
import { Catalog } from "../../layers/catalog/Catalog.ts"
import { crashPoint } from "../../layers/platform/CrashPoint.ts"
import { pageBytesMax } from "../../layers/runs/runsWithin.ts"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { Batch, batchApproval } from "../../schema/nouns/Batch.ts"
import { batchesOpenMax } from "../../schema/batches/Batch.ts"
import { problem, refused, refusedWith } from "../../schema/Errors.ts"
import { withCommands } from "../../schema/Hints.ts"
import { looksLike } from "../../schema/Ids.ts"
import { MicroUsd, usd } from "../../schema/money/Money.ts"
import { labelsMax } from "../../schema/accounts/KeyAccess.ts"
import { isMetadataValue, storedMetadata, valueCharsMax } from "../../schema/runs/Metadata.ts"
import { storageFull } from "../../schema/wallet/FreeStorage.ts"
import { signIn } from "../../schema/Steps.ts"
import { ownMessage } from "../../schema/accounts/OwnMessages.ts"
import { didYouMean } from "../../schema/suggestion.ts"
import { group } from "./group.ts"
import type { BatchRequest, CsvBatchQuery } from "../api/Batches.ts"
import { CurrentCaller, listLimitMax, personOf } from "../api/shapes/Common.ts"
import { csvLines, csvRows } from "../api/shapes/Csv.ts"
import { inputFieldsOf } from "../client/Columns.ts"
import { digestOf } from "../submission/Fingerprint.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { batchRows } from "../submission/BatchRows.ts"
import { csvRuns } from "../submission/CsvRuns.ts"
import { idempotencyKeyOf } from "../submission/SubmitRun.ts"
import { resultCells, resultColumns, resultLine } from "./BatchResults.ts"
import { wantsCsv } from "./CsvPage.ts"
import { pageOf } from "./ListPage.ts"
import { metadataOf } from "./RunList.ts"
import { takeStream } from "./EventStream.ts"

const batchUrl = (batch_id: string) => `/v1/batches/${batch_id}`
const batchJson = Schema.encodeSync(Batch)

/** `address` is the service's. */
const batchViewAt =
  (address: string) =>
  ({ batch_id: id, metadata, waiting, ...row }: BatchRow) => {
    const ended = row.succeeded + row.no_match + row.failed + row.blocked + row.invalid + row.cancelled
    return batchJson({
      ...row,
      id,
      done: row.finished_at !== null,
      rows: { ...row, open: row.total - ended },
      currency: "USD",
      ...(waiting === 0 ? {} : { approval: batchApproval(id, waiting, address) }),
      metadata: metadata === null ? {} : JSON.parse(metadata),
      results_url: `${batchUrl(id)}/results`
    })
  }

const unknown = (batch_id: string) =>
  refused("path.batch_id", "is not a batch of this organization", `There is no batch "${batch_id}".`)

const notItsOwn = problem(
  "forbidden",
  withCommands`This API key has a scope (allow), so it can retry and cancel only batches that it started. Sign in with ${signIn} and use the session token.`
)

const tooMany = refusedWith(
  "rate_limited",
  `This organization has ${batchesOpenMax} unfinished batches, which is the limit. Wait until one has finished, or cancel one.`
)

/** A CSV as the JSON that says the same. */
const fromCsv = Effect.fnUntraced(function* (
  catalog: Catalog["Service"],
  text: string,
  query: typeof CsvBatchQuery.Type
) {
  const { capability, map, max_total } = query
  if (capability === undefined) return yield* refused("query.capability", "is required with a CSV body")
  const entry = catalog.find(capability)
  if (entry === undefined) {
    const near = didYouMean(
      capability,
      catalog.entries.map((one) => one.capability.slug)
    )
    const message = `There is no capability "${capability}".${near}`
    return yield* refusedWith("capability_not_found", message, [{ path: "query.capability", message }])
  }
  const inputs = yield* csvRuns(text, map, inputFieldsOf(entry.capability.input.jsonSchema))
  const runs = inputs.map((input) => ({ capability, input }))
  const metadata = yield* metadataOf(query, (value) => value)
  const labels = Object.entries(metadata ?? {})
  if (labels.length > labelsMax) return yield* refused("query.metadata", `must have at most ${labelsMax} labels`)
  const [long] = labels.find(([, value]) => !isMetadataValue(value)) ?? []
  if (long !== undefined)
    return yield* refused(`query.metadata.${long}`, `must have at most ${valueCharsMax} characters`)
  // A batch without labels is the same request as before.
  const batch: BatchRequest = { runs, max_total: max_total ?? null, ...(metadata === null ? {} : { metadata }) }
  return batch
})

export const BatchesHandlers = group(
  "batches",
  Effect.fnUntraced(function* (handlers) {
    const admission = yield* Admission
    const catalog = yield* Catalog
    const store = yield* BatchStore
    const feed = yield* EventFeed
    const rowsOf = batchRows(admission)
    const batchView = batchViewAt(addressOf(yield* Settings))

    const seen = Effect.fnUntraced(function* (batch_id: string) {
      const { org_id, access } = yield* CurrentCaller
      return looksLike("bat", batch_id) ? yield* store.find(org_id, batch_id, access?.reads ?? null) : null
    })
    const batchOf = Effect.fnUntraced(function* (batch_id: string) {
      return (yield* seen(batch_id)) ?? (yield* unknown(batch_id))
    })
    const shown = Effect.fnUntraced(function* (batch_id: string, replayed: boolean) {
      return HttpServerResponse.jsonUnsafe(batchView(yield* batchOf(batch_id)), {
        status: 202,
        headers: {
          location: batchUrl(batch_id),
          "retry-after": "1",
          ...(replayed ? { "idempotent-replay": "true" } : {})
        }
      })
    })

    /** The rows that have ended, a few at a time, so that a client that does not read keeps little in memory. With a limit, one page of them. */
    const results = (
      org_id: string,
      batch_id: string,
      { cursor = 0, limit = Number.POSITIVE_INFINITY }: { readonly cursor?: number; readonly limit?: number },
      text: (rows: ReadonlyArray<ResultRow>) => string
    ) =>
      Stream.paginate({ after: cursor, left: limit, bytes: 0 }, ({ after, left, bytes }) =>
        Effect.map(
          store.results(org_id, batch_id, { after, limit: Math.min(left, listLimitMax) }),
          ({ rows, more }) => {
            const last = rows.at(-1)
            if (last === undefined) return [[], Option.none()] as const
            const part = Buffer.from(text(rows))
            const next = { after: last.row, left: left - rows.length, bytes: bytes + part.byteLength }
            const isFull = bytes > 0 && next.bytes > pageBytesMax && limit !== Number.POSITIVE_INFINITY
            return [
              isFull ? [] : [part],
              isFull || !more || next.left === 0 ? Option.none() : Option.some(next)
            ] as const
          }
        )
      )

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, query, payload }) {
        const caller = yield* CurrentCaller
        const { org_id, key_id, access } = caller
        const started_by = personOf(caller)
        const { request_id } = yield* RequestContext
        const idempotency_key = yield* idempotencyKeyOf(headers["idempotency-key"])
        const isCsv = typeof payload === "string"
        const [stray] = Object.keys(query)
        if (!isCsv && stray !== undefined)
          return yield* refused(`query.${stray}`, "is for a CSV body; in JSON it is a field of the body")
        const batch = isCsv ? yield* fromCsv(catalog, payload, query) : payload
        const rowCaller: RunCaller = {
          ...{ org_id, key_id, access, request_id, idempotency_key: null, fingerprint: "", wait_millis: 0 },
          metadata: null
        }
        const fingerprint = digestOf(batch)
        // A repeat joins its batch, also if a row could not begin any more, so it is looked for before the rows are checked.
        const created =
          (yield* store.existing(org_id, idempotency_key)) ??
          (yield* store.create({
            ...{ org_id, key_id, started_by, request_id, idempotency_key, fingerprint },
            requests: yield* rowsOf(batch.runs, rowCaller),
            key_budget_id: access?.budget_id ?? null,
            max_total: batch.max_total ?? null,
            metadata: storedMetadata(batch.metadata ?? null)
          }))
        yield* crashPoint("batch.stored")
        if (created._tag === "Full") return yield* tooMany
        if (created._tag === "StorageFull") return yield* Effect.fail(storageFull(created.limit))
        if (created._tag === "Existing") {
          const isSeen = (yield* seen(created.batch_id)) !== null
          if (!isSeen || created.fingerprint !== fingerprint)
            return yield* refusedWith(
              "idempotency_key_reused",
              isSeen
                ? `This Idempotency-Key was used for ${created.batch_id} with a different request body. Use a new key for a new batch.`
                : "This Idempotency-Key was used by another key of the organization. Use a new key for a new batch."
            )
        }
        return yield* shown(created.batch_id, created._tag === "Existing")
      }),

      list: Effect.fnUntraced(function* ({ query }) {
        const { org_id, access } = yield* CurrentCaller
        const read = (before: string | null, limit: number) =>
          store.list(org_id, access?.reads ?? null, { before, limit })
        return HttpServerResponse.jsonUnsafe(yield* pageOf("bat", query, read, batchView))
      }),

      get: Effect.fnUntraced(function* ({ params: { batch_id } }) {
        return HttpServerResponse.jsonUnsafe(batchView(yield* batchOf(batch_id)))
      }),

      results: Effect.fnUntraced(function* ({ params: { batch_id }, query }) {
        const { org_id, access } = yield* CurrentCaller
        yield* batchOf(batch_id)
        yield* takeStream(feed, org_id)
        const isOwn = (access?.reads ?? null) !== null
        const shown = (row: ResultRow) =>
          isOwn ? { ...row, error_message: ownMessage(row.error_code, row.error_message) } : row
        const csv = yield* wantsCsv
        const lines = csv
          ? Stream.concat(
              Stream.succeed(Buffer.from(csvLines([resultColumns]))),
              results(org_id, batch_id, query, (rows) => csvRows(resultColumns, rows.map(shown).map(resultCells)))
            )
          : results(org_id, batch_id, query, (rows) => rows.map(shown).map(resultLine).join(""))
        return HttpServerResponse.stream(lines, {
          contentType: csv ? "text/csv; charset=utf-8" : "application/x-ndjson",
          headers: {
            vary: "accept",
            ...(csv ? { "content-disposition": `attachment; filename="${batch_id}.csv"` } : {})
          }
        })
      }),

      retry: Effect.fnUntraced(function* ({ params: { batch_id }, payload }) {
        const caller = yield* CurrentCaller
        const { org_id, key_id, access } = caller
        const started_by = personOf(caller)
        const { request_id } = yield* RequestContext
        const before = yield* batchOf(batch_id)
        const max_total = payload.max_total ?? null
        const scoped = (access?.allow ?? null) !== null
        const retried = yield* store.retry({ org_id, batch_id, key_id, started_by, scoped, request_id, max_total })
        yield* crashPoint("batch.retried")
        switch (retried._tag) {
          case "NotItsOwn":
            return yield* Effect.fail(notItsOwn)
          case "Cancelled":
            return yield* refused("path.batch_id", "is a cancelled batch: send its rows in a new one")
          case "Erased":
            return yield* refused(
              "path.batch_id",
              `is a batch whose ${before.blocked} blocked rows were erased: send them in a new one`
            )
          case "BelowCharged":
            return yield* refused(
              "max_total",
              `is below the $${usd(MicroUsd(retried.charged))} that the batch has charged already`
            )
          case "Full":
            return yield* tooMany
          case "Retried":
          case "Unchanged":
            return yield* shown(batch_id, false)
        }
      }),

      cancel: Effect.fnUntraced(function* ({ params: { batch_id } }) {
        const { org_id, key_id, access } = yield* CurrentCaller
        yield* batchOf(batch_id)
        const cancelled = yield* store.cancel(org_id, batch_id, (access?.allow ?? null) === null ? null : key_id)
        const batch = yield* batchOf(batch_id)
        if (!cancelled && batch.finished_at === null) return yield* Effect.fail(notItsOwn)
        return HttpServerResponse.jsonUnsafe(batchView(batch))
      })
    })
  })
)
