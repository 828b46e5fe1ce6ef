/** `rungate audit-log`: who changed what in the organization. Needs an admin's session. */
import { AuditEntry } from "../../../schema/nouns/AuditEntry.ts"
import { AuditLogApi } from "../../api/accounts/AuditLog.ts"
import { listed } from "../answers/draw.ts"
import { row } from "../answers/row.ts"

const valueOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

/** The changed fields: `role: viewer → admin`. */
const changeOf = ({ before, after }: Pick<typeof AuditEntry.Encoded, "before" | "after">): string => {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names
    .map((name) => {
      const [was, becomes] = [before?.[name] ?? null, after?.[name] ?? null]
      if (was === null || becomes === null) return `${name}: ${valueOf(becomes ?? was)}`
      return `${name}: ${valueOf(was)} → ${valueOf(becomes)}`
    })
    .join(", ")
}

/** Who changed what, in words. */
export const changeCells = {
  actor: ({ actor }: Pick<typeof AuditEntry.Encoded, "actor">) => actor.name ?? actor.id ?? actor.kind,
  after: changeOf
}

export const auditLog = row(AuditLogApi.endpoints.list, {
  items: "entries",
  fields: {
    actor: "only this actor: an id, an e-mail address, person, key, operator or system",
    action: "only this action, such as key.revoked, or all that begin with key",
    from: "only since this day or time (UTC), such as 2026-11-22",
    to: "only before this day or time (UTC)"
  },
  show: listed(AuditEntry, "There are no such changes.", changeCells)
})
