/** `rungate opt-outs`: addresses, domains and profiles that no run may contact. */
import { Effect, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { OptOut, OptOutCheck, OptOutsAdded } from "../../../schema/nouns/OptOut.ts"
import { OptOutsApi } from "../../api/OptOuts.ts"
import { drawn, drawnList, listed, nounTable, said } from "../answers/draw.ts"
import { ask } from "../answers/operation.ts"
import { row } from "../answers/row.ts"
import { json } from "../answers/show.ts"
import { Screen } from "../terminal/Screen.ts"
import { argument } from "../terminal/flags.ts"
import { uploadSeconds } from "../batches/BatchProgress.ts"
import { addedText, imported, partsOf } from "./optOutFile.ts"

const { endpoints } = OptOutsApi

const values = Argument.String("values").pipe(
  Argument.withDescription("addresses, domains, phone numbers with +, profiles, or digests such as email:<SHA-256>"),
  Argument.atLeast(1)
)

const list = row(endpoints.list, {
  alias: "ls",
  show: listed(OptOut, "There are no opt-outs. Add one with: rungate opt-outs add ada@example.com")
})

const add = row(endpoints.add, {
  fields: { values, reason: "why, for the list and the audit log" },
  show: drawn(OptOutsAdded, (answer) => [addedText(answer)]),
  examples: [
    { command: "rungate opt-outs add ada@example.com acme.example", description: "An address, and a whole domain" }
  ]
})

const check = row(endpoints.check, {
  fields: { values },
  show: drawnList(Schema.Struct({ items: Schema.Array(OptOutCheck) }), ({ items }, shown) =>
    nounTable(OptOutCheck, items, shown)
  )
})

const remove = row(endpoints.remove, {
  alias: "rm",
  fields: { opt_out_id: "id from opt-outs list" },
  confirm: "Remove {opt_out_id}? Runs may contact it again.",
  show: said("Removed {opt_out_id}.")
})

const exportAll = row(endpoints.export, {
  show: ({ text }, { screen }) => screen.out(text)
})

const importFile = Command.make(
  "import",
  { file: argument("file", "a CSV with a header line, or - for stdin"), json },
  Effect.fnUntraced(function* ({ file, json }) {
    const screen = yield* Screen
    const sum = yield* imported(yield* partsOf(file), (text) =>
      ask(endpoints.import, { payload: text }, OptOutsAdded, { text, type: "text/csv", seconds: uploadSeconds })
    )
    yield* json ? screen.out(`${JSON.stringify(sum)}\n`) : screen.say(addedText(sum))
  })
).pipe(
  Command.withDescription("Add the values of a CSV, with the column value, or kind and digest as an export has them")
)

export const optOuts = Command.make("opt-outs").pipe(
  Command.withDescription("List, add, check, import and export whom no run may contact"),
  Command.withSubcommands([list, add, check, remove, importFile, exportAll])
)
