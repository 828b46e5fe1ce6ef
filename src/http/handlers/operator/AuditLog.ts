/** The audit log of all organizations and of the service itself. Read only: nobody can change an entry. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AuditLog, type EntryRow, everything } from "../../../layers/auditlog/AuditLog.ts"
import { Api } from "../../api/Api.ts"
import { pageOf } from "../ListPage.ts"
import { makeOrganizationOf } from "./NamedOrganization.ts"

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
      list: Effect.fnUntraced(function* ({ query }) {
        const org_id = yield* inQuery(query.org_id)
        const filter = { ...everything, actor: query.actor ?? null, action: query.action ?? null }
        return yield* pageOf("aud", query, (before, limit) => log.list(org_id, filter, before, limit), view)
      })
    })
  })
)
