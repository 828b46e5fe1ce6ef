/** `rungate audit-log`: who changed what in the organization. Needs an admin's session. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { pageFlags, readList } from "../answers/pages.ts"
import { json, jsonl, showList } from "../answers/show.ts"
import { Credentials } from "../state/Credentials.ts"
import { text } from "../terminal/flags.ts"
import { Screen } from "../terminal/Screen.ts"

export const auditLog = Command.make(
  "audit-log",
  {
    ...pageFlags("entries"),
    actor: text("actor", "only this actor: an id, an e-mail address, person, key, operator or system"),
    action: text("action", "only this action, such as key.revoked, or all that begin with key"),
    from: text("from", "only since this day or time (UTC), such as 2026-11-22"),
    to: text("to", "only before this day or time (UTC)"),
    json,
    jsonl
  },
  Effect.fnUntraced(function* ({ json, jsonl, actor, action, from, to, ...given }) {
    const screen = yield* Screen
    const token = yield* (yield* Credentials).session
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries({ actor, action, from, to })) if (value !== null) query.set(name, value)
    const path = query.size === 0 ? "/v1/audit-log" : `/v1/audit-log?${query}`
    yield* showList(yield* readList(path, given, token), { json, jsonl }, (body) =>
      Effect.map(
        Effect.promise(() => import("./PeopleView.ts")),
        ({ auditLines }) => auditLines(body, screen)
      )
    )
  })
).pipe(Command.withDescription("List who changed what, newest first"))
