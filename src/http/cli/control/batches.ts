/** `rungate batch list` and `rungate batch get`: the organization's batches, and how far each of them is. */
import { Effect, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { Batch } from "../../api/Batches.ts"
import { Client } from "../answers/Client.ts"
import { pageFlags, readList } from "../answers/pages.ts"
import { decoded, json, jsonl, type Lines, show, showList } from "../answers/show.ts"
import { Screen, type ScreenShape } from "../terminal/Screen.ts"
import { facts, table } from "../terminal/table.ts"
import { dollars, timeOf } from "../terminal/values.ts"
import { outcomesOf } from "./BatchProgress.ts"

const Batches = Schema.Struct({ items: Schema.Array(Batch), next_cursor: Schema.NullOr(Schema.String) })

const listLines = (text: string, screen: ScreenShape): Lines | null => {
  const page = decoded(Batches, text)
  if (page === null) return null
  if (page.items.length === 0)
    return ["There are no batches. Start one with: rungate batch people.csv --capability email.find --max-total 25.00"]
  const rows = table(
    page.items,
    [
      { title: "ID", of: ({ id }) => id },
      { title: "STATUS", of: ({ status }) => status },
      { title: "ROWS", of: ({ rows: { total } }) => total, right: true },
      { title: "OPEN", of: ({ rows: { open } }) => open, right: true },
      { title: "CHARGED", of: ({ charged }) => dollars(charged), right: true },
      { title: "CREATED", of: ({ created_at }) => timeOf(created_at), dropped: 1 }
    ],
    screen.width,
    (line) => screen.paint("bold", line)
  )
  return page.next_cursor === null ? rows : [...rows, "", `More: rungate batch list --cursor ${page.next_cursor}`]
}

const batchLines = (text: string, screen: ScreenShape): Lines | null => {
  const batch = decoded(Batch, text)
  if (batch === null) return null
  const { id, status, rows, charged, max_total, created_at, finished_at } = batch
  return [
    ...facts(
      [
        ["batch", id],
        ["status", status],
        ["rows", `${rows.total}, ${rows.open} open: ${outcomesOf(rows)}`],
        ["charged", `${dollars(charged)}${max_total === null ? "" : ` of at most ${dollars(max_total)}`}`],
        ["created", timeOf(created_at)],
        ["finished", finished_at === null ? null : timeOf(finished_at)]
      ],
      screen.width,
      (name) => screen.paint("dim", name)
    ),
    "",
    `Results: rungate api GET /v1/batches/${id}/results`,
    ...(rows.blocked === 0 ? [] : [`Run the blocked rows again: rungate batch retry ${id}`])
  ]
}

export const batchList = Command.make(
  "list",
  { ...pageFlags("batches"), json, jsonl },
  Effect.fnUntraced(function* (flags) {
    const screen = yield* Screen
    yield* showList(yield* readList("/v1/batches", flags), flags, (text) => Effect.succeed(listLines(text, screen)))
  })
).pipe(Command.withDescription("List batches, newest first"), Command.withAlias("ls"))

export const batchGet = Command.make(
  "get",
  { batch_id: Argument.String("batch_id").pipe(Argument.withDescription("the batch, bat_…")), json },
  Effect.fnUntraced(function* ({ batch_id, json }) {
    const { send } = yield* Client
    const screen = yield* Screen
    const answer = yield* send("GET", `/v1/batches/${encodeURIComponent(batch_id)}`)
    yield* show(answer, { json }, (text) => Effect.succeed(batchLines(text, screen)))
  })
).pipe(Command.withDescription("Show a batch: its rows, what they cost and its limit"))
