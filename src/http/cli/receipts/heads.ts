/** `rungate wallet heads`: saves the signed heads of the ledger, beside those that were saved before. */
import { existsSync } from "node:fs"
import { Effect, Schema } from "effect"
import { Command } from "effect/cli"
import { Head, HeadPage, ReceiptsApi } from "../../api/Receipts.ts"
import { readText } from "../runs/input.ts"
import { readAll } from "../answers/pages.ts"
import { decoded, read } from "../answers/show.ts"
import { bad, failedWith } from "../terminal/exits.ts"
import { outputFlag, saveFile } from "./files.ts"

const fileDefault = "ledger-heads.json"

const Kept = Schema.Struct({ items: Schema.Array(Head) })
type Kept = typeof Kept.Type

/** The heads of an earlier call. A file that holds something else is never overwritten. */
const keptIn = Effect.fnUntraced(function* (path: string) {
  if (path === "-" || !existsSync(path)) return []
  const kept = decoded(Kept, yield* readText(path))
  return kept?.items ?? (yield* bad(`${path} does not hold ledger heads. Name another file with -o.`))
})

/** A head that was published once must stay as it is. */
const changedOf = (kept: Kept["items"], published: Kept["items"]) =>
  kept.find((one) => published.some(({ day, seq, hash }) => day === one.day && (seq !== one.seq || hash !== one.hash)))

export const heads = Command.make(
  "heads",
  { output: outputFlag(fileDefault) },
  Effect.fnUntraced(function* ({ output }) {
    const path = output ?? fileDefault
    const kept = yield* keptIn(path)
    const page = yield* read(HeadPage, yield* readAll(ReceiptsApi.endpoints.heads, { query: {} }))
    const changed = changedOf(kept, page.items)
    if (changed !== undefined)
      return yield* failedWith(
        `The service publishes another head for ${changed.day} than the one in ${path}: the ledger was rewritten. ${path} is unchanged. Keep it, and verify it: rungate receipt verify --head ${path} --jwks <the keys that you saved with it>`
      )
    const days = new Map([...kept, ...page.items].map((one) => [one.day, one]))
    const items = [...days.values()].sort((a, b) => (a.day < b.day ? 1 : -1))
    const count = items.length === 1 ? "1 signed ledger head" : `${items.length} signed ledger heads`
    yield* saveFile(path, JSON.stringify({ items }, null, 2), count)
  })
).pipe(Command.withDescription("Save the signed heads of the ledger: one for each day with entries"))
