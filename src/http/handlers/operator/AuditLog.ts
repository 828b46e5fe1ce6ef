/** The audit log of all organizations and of the service itself. Read only: nobody can change an entry. */
import { Effect, Schema } from "effect"
import { AuditLog, everything } from "../../../layers/auditlog/AuditLog.ts"
import { OperatorAuditEntry } from "../../../schema/nouns/AuditEntry.ts"
import { group } from "../group.ts"
import { pageOf } from "../ListPage.ts"
import { makeOrganizationOf } from "./NamedOrganization.ts"

const entryJson = Schema.encodeSync(OperatorAuditEntry)

export const OperatorAuditLogHandlers = group(
  "operatorAuditLog",
  Effect.fnUntraced(function* (handlers) {
    const log = yield* AuditLog
    const { inQuery } = yield* makeOrganizationOf
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const org_id = yield* inQuery(query.org_id)
        const filter = { ...everything, actor: query.actor ?? null, action: query.action ?? null }
        return yield* pageOf("aud", query, (before, limit) => log.list(org_id, filter, before, limit), entryJson)
      })
    })
  })
)
