/** `rungate batch list` and `rungate batch get`: the organization's batches, and how far each of them is. */
import { Batch, BatchesApi } from "../../api/Batches.ts"
import { drawn, factLines, listed } from "../answers/draw.ts"
import { row } from "../answers/row.ts"
import { dollars, timeOf } from "../terminal/values.ts"
import { outcomesOf } from "./BatchProgress.ts"

const { endpoints } = BatchesApi

export const batchList = row("list", endpoints.list, {
  alias: "ls",
  show: listed(
    Batch,
    "There are no batches. Start one with: rungate batch people.csv --capability email.find --max-total 25.00",
    [
      "id",
      "status",
      { title: "ROWS", of: ({ rows: { total } }) => total, right: true },
      { title: "OPEN", of: ({ rows: { open } }) => open, right: true },
      { title: "CHARGED", of: ({ charged }) => dollars(charged), right: true },
      { title: "CREATED", of: ({ created_at }) => timeOf(created_at), dropped: 1 }
    ]
  )
})

export const batchGet = row("get", endpoints.get, {
  fields: { batch_id: "the batch, bat_…" },
  show: drawn(Batch, ({ id, status, rows, charged, max_total, created_at, finished_at }, shown) => [
    ...factLines(
      [
        ["batch", id],
        ["status", status],
        ["rows", `${rows.total}, ${rows.open} open: ${outcomesOf(rows)}`],
        ["charged", `${dollars(charged)}${max_total === null ? "" : ` of at most ${dollars(max_total)}`}`],
        ["created", timeOf(created_at)],
        ["finished", finished_at === null ? null : timeOf(finished_at)]
      ],
      shown
    ),
    "",
    `Results: rungate api GET /v1/batches/${id}/results`,
    ...(rows.blocked === 0 ? [] : [`Run the blocked rows again: rungate batch retry ${id}`])
  ])
})
