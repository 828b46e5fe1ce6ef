/** The audit log of all organizations and of the service itself. Read only: nobody can change an entry. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AuditLog, type EntryRow, everything } from "../../../layers/auditlog/AuditLog.ts"
import { Api } from "../../api/Api.ts"
import { listLimitDefault } from "../../api/shapes/Common.ts"
import { cursorOf, makeOrganizationOf, pageOf } from "./Lists.ts"

const view = (row: EntryRow) => ({
  id: row.entry_id,
  org_id: row.org_id,
  actor: { kind: row.actor, id: row.actor_id, name: row.actor_name },
  action: row.action,
  object: row.object,
  before: row.before,
  after: row.after,
  address: row.address,
  created_at: row.created_at.toISOString()
})

export const OperatorAuditLogHandlers = HttpApiBuilder.group(
  Api,
  "operatorAuditLog",
  Effect.fnUntraced(function* (handlers) {
    const log = yield* AuditLog
    const { inQuery } = yield* makeOrganizationOf
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query: { cursor, org_id, actor, action, limit = listLimitDefault } }) {
        const filter = { ...everything, actor: actor ?? null, action: action ?? null }
        const rows = yield* log.list(yield* inQuery(org_id), filter, yield* cursorOf("aud", cursor), limit + 1)
        return pageOf(rows, limit, (row) => row.entry_id, view)
      })
    })
  })
)
