/** `GET /v1/runs`: filters and pages of runs, as JSON or CSV. */
import { Clock, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Reads } from "../../layers/standby/Reads.ts"
import { notACursor, refused } from "../../schema/Errors.ts"
import { looksLike } from "../../schema/Ids.ts"
import { isMetadataName, isMetadataValue, type Metadata, metadataPrefix, nameRule } from "../../schema/runs/Metadata.ts"
import type { RunQuery } from "../api/shapes/RunQuery.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"
import { cut, periodOf } from "./ListPage.ts"
import { pageOrCsv } from "./CsvPage.ts"
import { listedJson, runCells, runColumns, withoutWallet } from "../../schema/nouns/Run.ts"
import { shortened } from "../../schema/json/StorableText.ts"

/** The labels in query parameters such as `metadata.campaign=spring`. Null without any. */
export const metadataOf = Effect.fnUntraced(function* (
  query: Readonly<Record<string, unknown>>,
  valueOf: (value: string) => string
) {
  const labels: Record<string, string> = {}
  for (const [parameter, value] of Object.entries(query)) {
    if (!parameter.startsWith(metadataPrefix) || typeof value !== "string") continue
    const name = parameter.slice(metadataPrefix.length)
    if (!isMetadataName(name)) return yield* refused(`query.${metadataPrefix}<name>`, `${nameRule} after the first dot`)
    labels[name] = valueOf(value)
  }
  const metadata: Metadata | null = Object.keys(labels).length === 0 ? null : labels
  return metadata
})

export const listRuns = (reads: Reads["Service"]) =>
  Effect.fnUntraced(function* (query: RunQuery) {
    const { org_id, access } = yield* CurrentCaller
    if (query.cursor !== undefined && !looksLike("run", query.cursor)) return yield* notACursor
    const { status = null, capability = null, provider = null, endpoint = null, key_id = null } = query
    const period = yield* periodOf(query)
    // No run has a longer value. It is not refused, because a filter may be any text.
    const metadata = yield* metadataOf(query, (value) => (isMetadataValue(value) ? value : shortened(value, 1_000)))
    const keys = access?.reads ?? null
    const filter = { org_id, status, capability, provider, endpoint, key_id, ...period, metadata, keys }
    const page = Effect.fnUntraced(function* (before: string | null, limit: number) {
      const rows = yield* reads.runs({ ...filter, before, limit: limit + 1 })
      const shown = keys === null ? rows : rows.map(withoutWallet)
      return cut(shown, limit, ({ run_id }) => run_id)
    })
    const answer = yield* pageOrCsv({ name: "runs.csv", columns: runColumns, cells: runCells, query, page })
    if (!("rows" in answer)) return answer
    const now = yield* Clock.currentTimeMillis
    const items = answer.rows.map((run) => listedJson(run, now)).join(",")
    return HttpServerResponse.text(`{"items":[${items}],"next_cursor":${JSON.stringify(answer.next)}}`, {
      contentType: "application/json",
      headers: { vary: "accept" }
    })
  })
