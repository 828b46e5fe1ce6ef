/** Formats history for a terminal. */
import { Schema } from "effect"
import { type History, HistoryRow, type HistoryTouch } from "../../api/History.ts"
import { isBought } from "../../../schema/runs/History.ts"
import { getRun, runningRuns } from "../../../schema/Steps.ts"
import { factLines, type Paper, type Shown, tableLines } from "../answers/draw.ts"
import type { Lines } from "../answers/show.ts"
import { cliHints } from "../answers/commands.ts"
import { harmless } from "../terminal/text.ts"
import { agoOf, dollars } from "../terminal/values.ts"

type Touch = typeof HistoryTouch.Encoded

const ago = (iso: string, now: number) => `${agoOf(new Date(iso).getTime(), now)} ago`
const touchOf = (touch: Touch | null, now: number) =>
  touch === null ? null : `${ago(touch.created_at, now)}, ${touch.channel}`

export const historyLines = (history: typeof History.Encoded, shown: Paper & Pick<Shown, "now">): Lines => {
  const { subject, items, last_contact, reusable, hints, count, charged } = history
  const { now } = shown
  const [newest] = reusable
  const others = hints.some(isBought) ? "a result that names it, see below" : "nothing"
  const commands = [runningRuns, ...[...reusable, ...items].map(({ run_id }) => getRun(run_id))]
  return [
    ...factLines(
      [
        ["subject", `${subject.normalized} (${subject.kind})`],
        ["runs", count],
        ["charged", dollars(charged)],
        ["contacted", touchOf(last_contact, now) ?? "no"],
        ["reusable", newest === undefined ? others : `${newest.run_id} (${newest.capability ?? newest.endpoint})`]
      ],
      shown
    ),
    ...(items.length === 0
      ? []
      : [
          "",
          ...tableLines(
            items,
            [
              { field: "run_id", title: "RUN" },
              "status",
              {
                title: "WHAT",
                of: (one) => one.capability ?? `${one.provider ?? "?"} ${one.endpoint ?? ""}`,
                least: 10
              },
              { title: "WHERE", of: (one) => `${one.matched.in}.${one.matched.path}`, least: 8 },
              { title: "CHARGED", of: (one) => dollars(one.charged), right: true, dropped: 1 },
              { title: "AGO", of: (one) => agoOf(new Date(one.created_at).getTime(), now), right: true }
            ],
            shown
          )
        ]),
    ...(hints.length === 0 ? [] : ["", ...cliHints({ hints, commands }).map(harmless)])
  ]
}

export const HistoryBatch = Schema.Struct({
  items: Schema.Array(HistoryRow),
  seen: Schema.Int,
  unseen: Schema.Int,
  contacted: Schema.Int
})

export const batchLines = (batch: typeof HistoryBatch.Encoded, shown: Shown): Lines => {
  const { now } = shown
  return [
    ...tableLines(
      batch.items,
      [
        { title: "SUBJECT", of: (row) => row.query, least: 16 },
        { title: "SEEN", of: (row) => (row.error === undefined ? row.count : "?"), right: true },
        { title: "CONTACTED", of: (row) => touchOf(row.last_contact, now) ?? "no" },
        { title: "REUSABLE", of: (row) => row.error?.message ?? row.reusable?.run_id ?? null, least: 12 }
      ],
      shown
    ),
    "",
    `${batch.seen} seen, ${batch.unseen} new, ${batch.contacted} contacted.`
  ]
}
