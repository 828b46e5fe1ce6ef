/** Formats members, invitations and the audit log for a terminal. Loaded on demand, because it imports the API contract. */
import { Schema } from "effect"
import { AuditEntry } from "../../api/accounts/AuditLog.ts"
import { FollowedKeys, Invitation, Member } from "../../api/accounts/Members.ts"
import { decoded, type Lines } from "../answers/show.ts"
import type { ScreenShape } from "../terminal/Screen.ts"
import { table } from "../terminal/table.ts"
import { agoOf, timeOf } from "../terminal/values.ts"

const pageOf = <S extends Schema.Top>(item: S) =>
  Schema.Struct({ items: Schema.Array(item), next_cursor: Schema.NullOr(Schema.String) })

const Members = pageOf(Member)
const Invitations = pageOf(Invitation)
const Entries = pageOf(AuditEntry)

/** A new invitation: all that the command reads of it. */
export const Invited = Schema.Struct({ link: Schema.optionalKey(Schema.String) })
const Removed = Schema.Struct({ id: Schema.String, keys: FollowedKeys })
const Changed = Schema.Struct({ ...Removed.fields, role: Schema.String })

const withMore = (rows: Lines, next: string | null, screen: ScreenShape): Lines =>
  next === null ? rows : [...rows, screen.paint("dim", `More: --cursor ${next}, or --all`)]

/** `now` in milliseconds since 1970. */
export const memberLines = (text: string, screen: ScreenShape, now: number): Lines | null => {
  const page = decoded(Members, text)
  if (page === null) return null
  const rows = table(
    page.items,
    [
      { title: "ID", of: (one) => one.id },
      { title: "E-MAIL", of: (one) => one.email, least: 8 },
      { title: "ROLE", of: (one) => one.role },
      { title: "JOINED", of: (one) => `${agoOf(new Date(one.created_at).getTime(), now)} ago` }
    ],
    screen.width,
    (line) => screen.paint("bold", line)
  )
  return withMore(rows, page.next_cursor, screen)
}

export const invitationLines = (text: string, screen: ScreenShape, now: number): Lines | null => {
  const page = decoded(Invitations, text)
  if (page === null) return null
  if (page.items.length === 0)
    return ["There are no open invitations. Invite a person with: rungate invite ada@example.com"]
  const rows = table(
    page.items,
    [
      { title: "ID", of: (one) => one.id },
      { title: "E-MAIL", of: (one) => one.email, least: 8 },
      { title: "ROLE", of: (one) => one.role },
      { title: "STATUS", of: (one) => one.status },
      { title: "SENT", of: (one) => `${agoOf(new Date(one.created_at).getTime(), now)} ago` }
    ],
    screen.width,
    (line) => screen.paint("bold", line)
  )
  return withMore(rows, page.next_cursor, screen)
}

const keysLine = (keys: typeof FollowedKeys.Type): string => {
  const ids = (change: "narrowed" | "revoked") =>
    keys.flatMap((key) => (key.change === change ? [key.id] : [])).join(", ")
  const [narrowed, revoked] = [ids("narrowed"), ids("revoked")]
  return `${narrowed === "" ? "" : ` These keys start runs and change nothing else now: ${narrowed}.`}${revoked === "" ? "" : ` These keys are revoked: ${revoked}.`}`
}

export const removedLine = (text: string): string => {
  const removed = decoded(Removed, text)
  return removed === null ? "Removed." : `Removed ${removed.id}.${keysLine(removed.keys)}`
}

export const roleLine = (text: string): string => {
  const changed = decoded(Changed, text)
  return changed === null ? "Changed." : `${changed.id} has the role ${changed.role} now.${keysLine(changed.keys)}`
}

const valueOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

/** The changed fields: `role: viewer → admin`. */
const changeOf = ({ before, after }: typeof AuditEntry.Type): string => {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names
    .map((name) => {
      const [was, becomes] = [before?.[name] ?? null, after?.[name] ?? null]
      if (was === null || becomes === null) return `${name}: ${valueOf(becomes ?? was)}`
      return `${name}: ${valueOf(was)} → ${valueOf(becomes)}`
    })
    .join(", ")
}

export const auditLines = (text: string, screen: ScreenShape): Lines | null => {
  const page = decoded(Entries, text)
  if (page === null) return null
  if (page.items.length === 0) return ["There are no such changes."]
  const rows = table(
    page.items,
    [
      { title: "AT", of: (one) => timeOf(one.created_at) },
      { title: "ACTOR", of: ({ actor }) => actor.name ?? actor.id ?? actor.kind, least: 8 },
      { title: "ADDRESS", of: (one) => one.address ?? "" },
      { title: "ACTION", of: (one) => one.action },
      { title: "OBJECT", of: (one) => one.object, least: 8 },
      { title: "CHANGE", of: changeOf, least: 8 }
    ],
    screen.width,
    (line) => screen.paint("bold", line)
  )
  return withMore(rows, page.next_cursor, screen)
}
