/** The audit log of the caller's organization. */
import { Effect, Schema } from "effect"
import { AuditLog } from "../../../layers/auditlog/AuditLog.ts"
import { AuditEntry } from "../../../schema/nouns/AuditEntry.ts"
import { group } from "../group.ts"
import { pageOf } from "../ListPage.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"

const entryJson = Schema.encodeSync(AuditEntry)

const timeOf = (text: string | undefined) => (text === undefined ? null : new Date(text))

export const AuditLogHandlers = group(
  "auditLog",
  Effect.fnUntraced(function* (handlers) {
    const log = yield* AuditLog
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { org_id } = yield* CurrentCaller
        const filter = {
          actor: query.actor ?? null,
          action: query.action ?? null,
          from: timeOf(query.from),
          to: timeOf(query.to)
        }
        return yield* pageOf("aud", query, (before, limit) => log.list(org_id, filter, before, limit), entryJson)
      })
    })
  })
)
