/**
 * `rungate history`: shows past runs about a person, company or other subject, to avoid buying or contacting twice.
 *
 * One subject is shown in full; several subjects, or a file of them, as one row each. Free.
 */
import { Effect, Schema, Option, type Redacted, Struct } from "effect"
import { Command } from "effect/cli"
import { getRun, runningRuns } from "../../../schema/Steps.ts"
import { memberText } from "../../../schema/json/JsonText.ts"
import { isBought } from "../../../schema/runs/History.ts"
import { kinds, type SubjectKind } from "../../../schema/subjects/Form.ts"
import { History, HistoryBatch, HistoryItem, HistoryRow, type HistoryTouch } from "../../../schema/nouns/History.ts"
import { HistoryApi } from "../../api/History.ts"
import type { Answer } from "../answers/Client.ts"
import { cliHints } from "../answers/commands.ts"
import { drawn, factLines, nounTable, type Paper, type Shown } from "../answers/draw.ts"
import { call, ask, type RequestOf } from "../answers/operation.ts"
import { shownAs } from "../answers/row.ts"
import { decoded, json, jsonl, type Lines, pageOf, formatOf, printed, read } from "../answers/show.ts"
import { bad, fail } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { choice, int, optional, withExamples, argument, yes } from "../terminal/flags.ts"
import { harmless } from "../terminal/text.ts"
import { agoOf, dollars } from "../terminal/values.ts"
import { subjectFlags, subjectsOf } from "./subjects.ts"
import { isFinal, isRunStatus } from "../../../schema/runs/Run.ts"
import { consent } from "../terminal/consent.ts"
import { Credentials } from "../state/Credentials.ts"

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
          ...nounTable(HistoryItem, items, shown, {
            capability: (one) => one.capability ?? `${one.provider ?? "?"} ${one.endpoint ?? ""}`,
            matched: ({ matched }) => `${matched.in}.${matched.path}`
          })
        ]),
    ...(hints.length === 0 ? [] : ["", ...cliHints({ hints, commands }).map(harmless)])
  ]
}

const batchLines = (batch: typeof HistoryBatch.Encoded, shown: Shown): Lines => {
  const { now } = shown
  return [
    ...nounTable(HistoryRow, batch.items, shown, {
      count: (row) => (row.error === undefined ? row.count : "?"),
      contacted: (row) => touchOf(row.last_contact, now) ?? "no",
      reusable: (row) => row.error?.message ?? row.reusable?.run_id ?? null
    }),
    "",
    `${batch.seen} seen, ${batch.unseen} new, ${batch.contacted} contacted.`
  ]
}

const { endpoints } = HistoryApi
/** The largest batch of the API. */
const batchMost = 200

const countIn = (answer: Answer, name: string) => decoded(Schema.Int, memberText(answer.text, name) ?? "") ?? 0

/** Merges batches: concatenates items and adds counts. A single batch stays unchanged. */
const merged = (answers: ReadonlyArray<Answer>, last: Answer): Answer => {
  if (answers.length === 1) return last
  const items = answers.flatMap((answer) => pageOf(answer.text).items)
  const sums = ["seen", "unseen", "contacted"].map(
    (name) => `"${name}":${answers.reduce((sum, answer) => sum + countIn(answer, name), 0)}`
  )
  return { ...last, text: `{"items":[${items.join(",")}],${sums.join(",")}}` }
}

const askBatches = Effect.fnUntraced(function* (subjects: ReadonlyArray<string>, kind: SubjectKind | null) {
  const screen = yield* Screen
  const answers: Array<Answer> = []
  for (let at = 0; ; at += batchMost) {
    const part = subjects.slice(at, at + batchMost)
    if (subjects.length > batchMost) yield* screen.status(`${at} of ${subjects.length}`)
    const answer = yield* call(endpoints.batch, { payload: { subjects: part, kind } })
    answers.push(answer)
    if (answer.status < 400 && at + batchMost < subjects.length) continue
    yield* screen.status("")
    return answer.status >= 400 ? answer : merged(answers, answer)
  }
})

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

type Query = RequestOf<typeof endpoints.erase>["query"]

/** Shows the progress. Never completes; the caller interrupts it. */
const watch = Effect.fnUntraced(function* (query: Query, token: Redacted.Redacted, all: number) {
  const screen = yield* Screen
  for (;;) {
    yield* Effect.sleep(screen.animated ? lookEvery.terminal : lookEvery.elsewhere)
    const left = yield* Effect.option(ask(endpoints.get, { query: { ...query, limit: "1" } }, Known, { token }))
    if (Option.isNone(left)) continue
    const line = `${Math.max(0, all - left.value.count)} of ${runs(all)} erased`
    yield* screen.animated ? screen.status(line) : screen.say(line)
  }
})

/**
 * `rungate history erase`: permanently erases input and result of every run that names a subject. Charges and the ledger stay.
 *
 * It shows the number of runs and asks first. Unfinished runs are not erased; exit code 8 reports them.
 */
const erase = Command.make(
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
    const history = yield* ask(endpoints.get, { query: { ...query, limit: "1" } }, Known, { token })
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
      call(endpoints.erase, { query }, { token, seconds: answerSeconds }),
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

export const history = Command.make(
  "history",
  {
    ...subjectFlags,
    kind: choice("kind", kinds, "kind of the subjects; detected by default"),
    limit: optional(int("limit", "runs to show for one subject, 1 to 200; 50 by default")),
    json,
    jsonl
  },
  Effect.fnUntraced(function* ({ kind, limit, json, jsonl, ...named }) {
    const { all, single } = yield* subjectsOf(named)
    const [only = ""] = all
    if (single && !jsonl) {
      const query = { q: only, limit: String(limit ?? 50), ...(kind === null ? {} : { kind }) }
      return yield* shownAs(drawn(History, historyLines), yield* call(endpoints.get, { query }), { json })
    }
    if (limit !== null)
      return yield* bad("--limit needs a single subject, without --jsonl: of several, each is one row.")
    yield* shownAs(drawn(HistoryBatch, batchLines), yield* askBatches(all, kind), { json, jsonl })
  })
).pipe(
  Command.withDescription("Show past runs about subjects: seen, contacted, results to reuse"),
  withExamples({
    "rungate history ada@example.com": "One subject in full",
    "rungate history --csv leads.csv --column email": "A list, one row each"
  }),
  Command.withSubcommands([erase])
)
