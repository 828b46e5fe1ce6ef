/** Formats history for a terminal. Loaded on demand, because it imports the API contract. */
import { Schema } from "effect"
import { History, HistoryRow, type HistoryTouch } from "../../api/History.ts"
import { isBought } from "../../../schema/runs/History.ts"
import { getRun, runningRuns } from "../../../schema/Steps.ts"
import type { ScreenShape } from "../terminal/Screen.ts"
import { decoded, type Lines } from "../answers/show.ts"
import { cliHints } from "../answers/commands.ts"
import { facts, table } from "../terminal/table.ts"
import { harmless } from "../terminal/text.ts"
import { agoOf, dollars } from "../terminal/values.ts"

type Touch = typeof HistoryTouch.Type

const ago = (iso: string, now: number) => `${agoOf(new Date(iso).getTime(), now)} ago`
const touchOf = (touch: Touch | null, now: number) =>
  touch === null ? null : `${ago(touch.created_at, now)}, ${touch.channel}`

/** `now` in milliseconds since 1970. */
export const historyLines = (text: string, screen: Pick<ScreenShape, "width" | "paint">, now: number): Lines | null => {
  const history = decoded(History, text)
  if (history === null) return null
  const { subject, items, last_contact, reusable, hints, count, charged } = history
  const bold = (line: string) => screen.paint("bold", line)
  const [newest] = reusable
  const others = hints.some(isBought) ? "a result that names it, see below" : "nothing"
  const commands = [runningRuns, ...[...reusable, ...items].map(({ run_id }) => getRun(run_id))]
  return [
    ...facts(
      [
        ["subject", `${subject.normalized} (${subject.kind})`],
        ["runs", count],
        ["charged", dollars(charged)],
        ["contacted", touchOf(last_contact, now) ?? "no"],
        ["reusable", newest === undefined ? others : `${newest.run_id} (${newest.capability ?? newest.endpoint})`]
      ],
      screen.width,
      (name) => screen.paint("dim", name)
    ),
    ...(items.length === 0
      ? []
      : [
          "",
          ...table(
            items,
            [
              { title: "RUN", of: (one) => one.run_id },
              { title: "STATUS", of: (one) => one.status },
              {
                title: "WHAT",
                of: (one) => one.capability ?? `${one.provider ?? "?"} ${one.endpoint ?? ""}`,
                least: 10
              },
              { title: "WHERE", of: (one) => `${one.matched.in}.${one.matched.path}`, least: 8 },
              { title: "CHARGED", of: (one) => dollars(one.charged), right: true, dropped: 1 },
              { title: "AGO", of: (one) => agoOf(new Date(one.created_at).getTime(), now), right: true }
            ],
            screen.width,
            bold
          )
        ]),
    ...(hints.length === 0 ? [] : ["", ...cliHints({ hints, commands }).map(harmless)])
  ]
}

const Batch = Schema.Struct({
  items: Schema.Array(HistoryRow),
  seen: Schema.Int,
  unseen: Schema.Int,
  contacted: Schema.Int
})

/** `now` in milliseconds since 1970. */
export const batchLines = (text: string, screen: ScreenShape, now: number): Lines | null => {
  const batch = decoded(Batch, text)
  if (batch === null) return null
  return [
    ...table(
      batch.items,
      [
        { title: "SUBJECT", of: (row) => row.query, least: 16 },
        { title: "SEEN", of: (row) => (row.error === undefined ? row.count : "?"), right: true },
        { title: "CONTACTED", of: (row) => touchOf(row.last_contact, now) ?? "no" },
        { title: "REUSABLE", of: (row) => row.error?.message ?? row.reusable?.run_id ?? null, least: 12 }
      ],
      screen.width,
      (line) => screen.paint("bold", line)
    ),
    "",
    `${batch.seen} seen, ${batch.unseen} new, ${batch.contacted} contacted.`
  ]
}
