/**
 * `rungate opt-outs` and `rungate admin opt-outs`: addresses, domains and profiles that no run may contact, of the organization or of all
 * organizations.
 */
import { Array as Arr, Effect, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { unparse } from "papaparse"
import { batchRowsMax } from "../../../schema/batches/Batch.ts"
import { hasOptOutHeader, optOutRefusalsMax } from "../../../schema/guards/OptOut.ts"
import { OptOut, OptOutCheck, OptOutsAdded } from "../../../schema/nouns/OptOut.ts"
import { type OperatorOptOutsApi, OptOutsApi } from "../../api/OptOuts.ts"
import { plainCell } from "../../api/shapes/Csv.ts"
import { addedSentence, refusalLines } from "../../client/Words.ts"
import { drawn, listed, nounTable, said } from "../answers/draw.ts"
import { ask } from "../answers/operation.ts"
import { row } from "../answers/row.ts"
import { json } from "../answers/show.ts"
import { linesOf, uploadSeconds } from "../batches/BatchProgress.ts"
import { argument } from "../terminal/flags.ts"
import { Screen } from "../terminal/Screen.ts"

const values = Argument.String("values").pipe(
  Argument.withDescription("addresses, domains, phone numbers with +, profiles, or digests such as email:<SHA-256>"),
  Argument.atLeast(1)
)

/** `command` are the words before the name of each. */
export const optOutCommands = (
  endpoints: (typeof OptOutsApi | typeof OperatorOptOutsApi)["endpoints"],
  command: string,
  description: string
) => {
  const importFile = Command.make(
    "import",
    { file: argument("file", "a CSV with a header line, or - for stdin"), json },
    Effect.fnUntraced(function* ({ file, json }) {
      const screen = yield* Screen
      const { header: first, rows: others } = yield* linesOf(file)
      const hasHeader = hasOptOutHeader(first.map(plainCell))
      const [header, rows] = hasHeader ? [first, others] : [["value"], [first, ...others]]
      const sum = { added: 0, already: 0, refused: 0, refusals: Arr.empty<string>() }
      for (const [at, part] of Arr.chunksOf(rows, batchRowsMax).entries()) {
        const text = unparse([header, ...part])
        const how = { text, type: "text/csv", seconds: uploadSeconds }
        const { added, already, refused, refusals } = yield* ask(endpoints.import, { payload: text }, OptOutsAdded, how)
        sum.added += added
        sum.already += already
        sum.refused += refused
        // The service counts the rows of a part.
        const inFile = refusals.map((one) =>
          one.replace(/^row (\d+)/, (_, row) => `row ${at * batchRowsMax + Number(row)}`)
        )
        sum.refusals = [...sum.refusals, ...inFile].slice(0, optOutRefusalsMax)
      }
      if (json) return yield* screen.out(`${JSON.stringify(sum)}\n`)
      yield* screen.say(addedSentence(sum))
      for (const line of refusalLines(sum)) yield* screen.warn(line)
    })
  ).pipe(
    Command.withDescription("Add the values of a CSV, with the column value, or kind and digest as an export has them")
  )
  return Command.make("opt-outs").pipe(
    Command.withDescription(description),
    Command.withSubcommands([
      row(endpoints.list, {
        items: "opt-outs",
        show: listed(OptOut, `There are no opt-outs. Add one with: ${command} add ada@example.com`)
      }),
      row(endpoints.add, {
        fields: { values, reason: "why, for the list and the audit log" },
        show: drawn(OptOutsAdded, (answer) => [addedSentence(answer)]),
        examples: { [`${command} add ada@example.com acme.example`]: "An address, and a whole domain" }
      }),
      row(endpoints.check, {
        fields: { values },
        show: drawn(Schema.Struct({ items: Schema.Array(OptOutCheck) }), ({ items }, shown) =>
          nounTable(OptOutCheck, items, shown)
        )
      }),
      row(endpoints.remove, {
        confirm: "Remove {opt_out_id}? Runs may contact it again.",
        show: said("Removed {opt_out_id}.")
      }),
      importFile,
      row(endpoints.export, { show: ({ text }, { screen }) => screen.out(text) })
    ])
  )
}

export const optOuts = optOutCommands(
  OptOutsApi.endpoints,
  "rungate opt-outs",
  "List, add, check, import and export whom no run may contact"
)
