/**
 * `rungate history erase`: forget somebody, for good: input and result of every run that names them. Charges and the ledger stay.
 *
 * Says first how many runs that are, as the same user who erases; whatever is still under way stays, and the exit code says so.
 */
import { Effect, Option, type Redacted, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { isFinal, isRunStatus } from "../../../schema/runs/Run.ts"
import { kinds } from "../../../schema/subjects/Form.ts"
import { Client } from "../answers/Client.ts"
import { consent, yes } from "../terminal/consent.ts"
import { Credentials } from "../state/Credentials.ts"
import { fail } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { decoded, failureOf, formatOf, json, lines, printed } from "../answers/show.ts"

/** A service that erases hundreds of thousands of runs is asked again where it stopped. */
const answerSeconds = 150
/** On a terminal one line is written over and over; elsewhere each is one more. */
const lookEvery = { terminal: "1 second", elsewhere: "5 seconds" } as const

const Known = Schema.Struct({
  subject: Schema.Struct({ kind: Schema.String, normalized: Schema.String }),
  count: Schema.Int,
  by_status: Schema.Record(Schema.String, Schema.Int)
})
const Erased = Schema.Struct({ erased: Schema.Int, in_flight: Schema.Int })

const runs = (count: number) => `${count} ${count === 1 ? "run" : "runs"}`
const named = ({ kind, normalized }: typeof Known.Type.subject) =>
  kind === "domain" ? `${normalized} or an address or page there` : `${normalized} (${kind})`
const underWay = ({ by_status }: typeof Known.Type) =>
  Object.entries(by_status).reduce((sum, [status, n]) => sum + (isRunStatus(status) && isFinal(status) ? 0 : n), 0)

const queryOf = (subject: string, kind: string | null) =>
  new URLSearchParams({ q: subject, ...(kind === null ? {} : { kind }) })

/** Never ends: says how far it is, of what takes longer than a moment. */
const watch = Effect.fnUntraced(function* (query: string, token: Redacted.Redacted, all: number) {
  const { send } = yield* Client
  const screen = yield* Screen
  for (;;) {
    yield* Effect.sleep(screen.animated ? lookEvery.terminal : lookEvery.elsewhere)
    const answer = yield* Effect.option(send("GET", `/v1/history?${query}&limit=1`, { token }))
    const left = Option.isSome(answer) ? decoded(Known, answer.value.text)?.count : undefined
    if (left === undefined) continue
    const line = `${Math.max(0, all - left)} of ${runs(all)} erased`
    yield* screen.animated ? screen.status(line) : screen.say(line)
  }
})

export const erase = Command.make(
  "erase",
  {
    subject: Argument.String("subject").pipe(
      Argument.withDescription("e-mail address, domain, profile, URL, handle, phone number or words")
    ),
    kind: Flag.Literals("kind", kinds).pipe(
      Flag.withDescription("how to read it; detected when left out"),
      Flag.optional,
      Flag.map(Option.getOrNull)
    ),
    yes,
    json
  },
  Effect.fnUntraced(function* ({ subject, kind, yes, json }) {
    const { send } = yield* Client
    const { session } = yield* Credentials
    const screen = yield* Screen
    // A key may be of another organization than the user who is signed in.
    const token = yield* session
    const query = String(queryOf(subject, kind))
    const asked = yield* send("GET", `/v1/history?${query}&limit=1`, { token })
    const unreadable = yield* failureOf(asked)
    if (unreadable !== null) return yield* unreadable
    const known = decoded(Known, asked.text)
    if (known === null)
      return yield* fail("failed", "The service does not say what is on record, so nothing was erased.")
    const table = formatOf(screen, { json }) === "table"
    const who = named(known.subject)
    if (known.count === 0 && table)
      return yield* screen.say(`Nothing on record names ${who}: there is nothing to erase.`)
    const open = underWay(known)
    const what = `input and result of ${runs(known.count - open)} that name ${who}`
    const rest = open === 0 ? "" : ` ${runs(open)} more must end first.`
    yield* consent(`Erase ${what}? They are gone for good; charges and ledger entries stay.${rest}`, { yes })
    if (yes) yield* screen.say(`Erasing ${what}.${rest}`)
    const answer = yield* Effect.raceFirst(
      send("DELETE", `/v1/history?${query}`, { token, seconds: answerSeconds }),
      watch(query, token, known.count - open)
    )
    yield* screen.status("")
    const failure = yield* failureOf(answer)
    if (!table) yield* screen.out(printed(answer.text))
    if (failure !== null) return yield* failure
    const done = decoded(Erased, answer.text)
    if (done === null) return yield* table ? lines(null, answer.text) : Effect.void
    if (table) yield* screen.say(`Erased ${runs(done.erased)}; their charges and ledger entries stay.`)
    if (done.in_flight > 0) {
      const still = done.in_flight === 1 ? "run that names it is" : "runs that name it are"
      return yield* fail(
        "pending",
        `${done.in_flight} ${still} still under way: erase again when over (rungate runs list).`
      )
    }
  })
).pipe(
  Command.withDescription("Erase input and result of every run that names a subject, for good; needs a session"),
  Command.withExamples([{ command: "rungate history erase ada@example.com", description: "Forget a person" }])
)
