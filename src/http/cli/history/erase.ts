/**
 * `rungate history erase`: permanently erases input and result of every run that names a subject. Charges and the ledger stay.
 *
 * It shows the number of runs and asks first. Unfinished runs are not erased; exit code 8 reports them.
 */
import { Effect, Option, type Redacted, Schema, Struct } from "effect"
import { Command } from "effect/cli"
import { isFinal, isRunStatus } from "../../../schema/runs/Run.ts"
import { kinds } from "../../../schema/subjects/Form.ts"
import { History } from "../../../schema/nouns/History.ts"
import { HistoryApi } from "../../api/History.ts"
import { ask, call, type RequestOf } from "../answers/operation.ts"
import { consent } from "../terminal/consent.ts"
import { Credentials } from "../state/Credentials.ts"
import { fail } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { formatOf, json, printed, read } from "../answers/show.ts"
import { argument, choice, yes, withExamples } from "../terminal/flags.ts"

/** Response timeout. Erasing hundreds of thousands of runs may need several requests. */
const answerSeconds = 150
/** How often progress is shown: a status line on a terminal, a new line elsewhere. */
const lookEvery = { terminal: "1 second", elsewhere: "5 seconds" } as const

const Known = Schema.Struct(Struct.pick(History.fields, ["subject", "count", "by_status"]))
const Erased = Schema.Struct({ erased: Schema.Int, in_flight: Schema.Int })

const runs = (count: number) => `${count} ${count === 1 ? "run" : "runs"}`
const named = ({ kind, normalized }: (typeof Known.Encoded)["subject"]) =>
  kind === "domain" ? `${normalized} or an address or page there` : `${normalized} (${kind})`
const underWay = ({ by_status }: typeof Known.Encoded) =>
  Object.entries(by_status).reduce((sum, [status, n]) => sum + (isRunStatus(status) && isFinal(status) ? 0 : n), 0)

const { get, erase: eraseAll } = HistoryApi.endpoints
type Query = RequestOf<typeof eraseAll>["query"]

/** Shows the progress. Never completes; the caller interrupts it. */
const watch = Effect.fnUntraced(function* (query: Query, token: Redacted.Redacted, all: number) {
  const screen = yield* Screen
  for (;;) {
    yield* Effect.sleep(screen.animated ? lookEvery.terminal : lookEvery.elsewhere)
    const left = yield* Effect.option(ask(get, { query: { ...query, limit: "1" } }, Known, { token }))
    if (Option.isNone(left)) continue
    const line = `${Math.max(0, all - left.value.count)} of ${runs(all)} erased`
    yield* screen.animated ? screen.status(line) : screen.say(line)
  }
})

export const erase = Command.make(
  "erase",
  {
    subject: argument("subject", "e-mail address, domain, profile, URL, handle, phone number or words"),
    kind: choice("kind", kinds, "kind of the subject; detected by default"),
    yes,
    json
  },
  Effect.fnUntraced(function* ({ subject, kind, yes, json }) {
    const { session } = yield* Credentials
    const screen = yield* Screen
    // The session is used throughout, because the key may belong to another organization.
    const token = yield* session
    const query = { q: subject, ...(kind === null ? {} : { kind }) }
    const history = yield* ask(get, { query: { ...query, limit: "1" } }, Known, { token })
    const table = formatOf(screen, { json }) === "table"
    const who = named(history.subject)
    const open = underWay(history)
    // The count does not have labels and batches.
    const what =
      history.count === 0
        ? `labels and rows of batches that name ${who}, which no run has in its input or result`
        : `input and result of ${runs(history.count - open)} that name ${who}`
    const rest = open === 0 ? "" : ` ${runs(open)} still executing will not be erased.`
    yield* consent(`Erase ${what}? This can't be undone. Charges and ledger entries stay.${rest}`, { yes })
    if (yes) yield* screen.say(`Erasing ${what}.${rest}`)
    const answer = yield* Effect.raceFirst(
      call(eraseAll, { query }, { token, seconds: answerSeconds }),
      watch(query, token, history.count - open)
    )
    yield* screen.status("")
    if (!table) yield* screen.out(printed(answer.text))
    const done = yield* read(Erased, answer)
    if (table) yield* screen.say(`Erased ${runs(done.erased)}. Their charges and ledger entries stay.`)
    if (done.in_flight > 0) {
      return yield* fail(
        "pending",
        `${runs(done.in_flight)} still executing and not erased. Erase again when finished (see rungate runs list).`
      )
    }
  })
).pipe(
  Command.withDescription("Permanently erase input and result of every run that names a subject; needs a session"),
  withExamples({ "rungate history erase ada@example.com": "Erase a person" })
)
