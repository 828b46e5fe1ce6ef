/** `rungate admin opt-outs`: addresses, domains and profiles that no organization's run may contact. */
import { Console, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { OptOut, OptOutCheck } from "../../schema/nouns/OptOut.ts"
import { addedText, imported, partsOf } from "../cli/account/optOutFile.ts"
import { Screen } from "../cli/terminal/Screen.ts"
import { argument, text } from "../cli/terminal/flags.ts"
import { ask, list as listed } from "./ask.ts"
import { json, limitOf } from "./flags.ts"
import { nounTable, print } from "./output.ts"

const group = "operatorOptOuts"
const values = Argument.String("values").pipe(
  Argument.withDescription("addresses, domains, phone numbers with +, profiles, or digests such as email:<SHA-256>"),
  Argument.atLeast(1)
)

const list = Command.make("list", { limit: limitOf("opt-outs", 50), json }, (shown) =>
  listed(group, shown, (operations, page) => operations.list({ query: page }), {
    noun: OptOut,
    none: "The service has no opt-outs.",
    more: "More opt-outs exist. Raise --limit"
  })
).pipe(Command.withDescription("List opt-outs of the service, newest first"))

const add = Command.make(
  "add",
  { values, reason: text("reason", "why, for the list and the audit log"), json },
  Effect.fnUntraced(function* ({ values, reason, json }) {
    const added = yield* ask(group, (operations) => operations.add({ payload: { values, reason } }))
    yield* json ? print(added) : Console.log(addedText(added))
  })
).pipe(Command.withDescription("Let no organization's run contact these"))

const check = Command.make(
  "check",
  { values, json },
  Effect.fnUntraced(function* ({ values, json }) {
    const { items } = yield* ask(group, (operations) => operations.check({ payload: { values } }))
    if (json) return yield* print({ items })
    yield* Console.log(nounTable(OptOutCheck, items).join("\n"))
  })
).pipe(Command.withDescription("Say which values the service's list covers"))

const remove = Command.make(
  "remove",
  { opt_out_id: argument("opt_out_id", "id, as admin opt-outs list shows it"), json },
  Effect.fnUntraced(function* ({ opt_out_id, json }) {
    const removed = yield* ask(group, (operations) => operations.remove({ params: { opt_out_id } }))
    yield* json ? print(removed) : Console.log(`removed: ${opt_out_id}`)
  })
).pipe(Command.withDescription("Let runs contact it again"))

const importFile = Command.make(
  "import",
  { file: argument("file", "a CSV with a header line, or - for stdin"), json },
  Effect.fnUntraced(function* ({ file, json }) {
    const parts = yield* Effect.provide(partsOf(file), Screen.layer)
    const sum = yield* imported(parts, (payload) => ask(group, (operations) => operations.import({ payload })))
    yield* json ? print(sum) : Console.log(addedText(sum))
  })
).pipe(
  Command.withDescription("Add the values of a CSV, with the column value, or kind and digest as an export has them")
)

const exportAll = Command.make("export", {}, () =>
  Effect.flatMap(
    ask(group, (operations) => operations.export({})),
    (csv) => Console.log(csv.trimEnd())
  )
).pipe(Command.withDescription("Print all opt-outs of the service as CSV"))

export const optOuts = Command.make("opt-outs").pipe(
  Command.withDescription("Whom no organization's run may contact"),
  Command.withSubcommands([list, add, check, remove, importFile, exportAll])
)
