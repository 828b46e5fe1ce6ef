/** The audit log of the caller's organization. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AuditLog, type EntryRow } from "../../../layers/auditlog/AuditLog.ts"
import { problem } from "../../../schema/Errors.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { Api } from "../../api/Api.ts"
import { CurrentCaller, listLimitDefault } from "../../api/shapes/Common.ts"

const badCursor = problem("invalid_request", "query.cursor is not a cursor of this list", [
  { path: "query.cursor", message: "is not a cursor of this list" }
])

const view = (row: EntryRow) => ({
  id: row.entry_id,
  actor: { kind: row.actor, id: row.actor_id, name: row.actor_name },
  action: row.action,
  object: row.object,
  before: row.before,
  after: row.after,
  address: row.address,
  created_at: row.created_at.toISOString()
})

const timeOf = (text: string | undefined) => (text === undefined ? null : new Date(text))

export const AuditLogHandlers = HttpApiBuilder.group(
  Api,
  "auditLog",
  Effect.fnUntraced(function* (handlers) {
    const log = yield* AuditLog
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { org_id } = yield* CurrentCaller
        const limit = query.limit ?? listLimitDefault
        if (query.cursor !== undefined && !looksLike("aud", query.cursor)) return yield* Effect.fail(badCursor)
        const filter = {
          actor: query.actor ?? null,
          action: query.action ?? null,
          from: timeOf(query.from),
          to: timeOf(query.to)
        }
        const rows = yield* log.list(org_id, filter, query.cursor ?? null, limit + 1)
        const page = rows.slice(0, limit)
        return { items: page.map(view), next_cursor: rows.length > limit ? (page.at(-1)?.entry_id ?? null) : null }
      })
    })
  })
)
