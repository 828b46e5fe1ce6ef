/**
 * `rungate allowances`: keys with an amount of the wallet's money. Create, list, show and revoke them.
 *
 * A key that may give allowances needs no session for it. With another saved key, the session of its profile is used. The new key is printed
 * once, to stdout.
 */
import { Clock, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Money from "../../../schema/money/Money.ts"
import { scopeBody, scopeFlags } from "../account/keyChanges.ts"
import { Client } from "../answers/Client.ts"
import { pageFlags, readList } from "../answers/pages.ts"
import { asPerson } from "../answers/person.ts"
import { failureOf, formatOf, json, jsonl, show, showList } from "../answers/show.ts"
import { madeKey, printKey } from "../answers/newKey.ts"
import { consent } from "../terminal/consent.ts"
import { durationSeconds, usd, yes } from "../terminal/flags.ts"
import { Screen } from "../terminal/Screen.ts"

const path = "/v1/allowances"
const allowance_id = Argument.String("allowance_id").pipe(Argument.withDescription("id from allowances list"))
const of = (id: string) => `${path}/${encodeURIComponent(id)}`
const view = Effect.promise(() => import("./AllowancesView.ts"))

const list = Command.make(
  "list",
  { ...pageFlags("allowances"), json, jsonl },
  Effect.fnUntraced(function* ({ json, jsonl, ...given }) {
    const screen = yield* Screen
    yield* showList(yield* readList(path, given), { json, jsonl }, (text) =>
      Effect.map(view, ({ allowanceLines }) => allowanceLines(text, screen))
    )
  })
).pipe(Command.withDescription("List allowances, newest first"), Command.withAlias("ls"))

const showOne = Command.make(
  "show",
  { allowance_id, json },
  Effect.fnUntraced(function* ({ allowance_id, json }) {
    const { send } = yield* Client
    const screen = yield* Screen
    yield* show(yield* send("GET", of(allowance_id)), { json }, (text) =>
      Effect.map(view, ({ allowanceDetails }) => allowanceDetails(text, screen))
    )
  })
).pipe(Command.withDescription("Show what an allowance spent, what is left of it, and what it may do"))

/** The time at which an allowance ends. What is neither a duration nor a time is refused by the service, which names the field. */
const endOf = (given: string, now: number): string => {
  const seconds = durationSeconds(given)
  const end = new Date(now + seconds * 1000)
  return seconds === 0 || Number.isNaN(end.getTime()) ? given : end.toISOString()
}

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withDescription("a name that tells who gets it")),
    amount: usd("amount", "what it may spend in USD; held at once"),
    expires: Flag.String("expires").pipe(
      Flag.withDescription("when it ends: a duration such as 2h or 7d, or a time such as 2026-12-31T00:00:00Z")
    ),
    ...scopeFlags,
    json
  },
  Effect.fnUntraced(function* ({ name, amount, expires, json, ...scope }) {
    const { send } = yield* Client
    const expires_at = endOf(expires, yield* Clock.currentTimeMillis)
    const body = { name, amount: Money.usd(amount), expires_at, ...scopeBody(scope) }
    // With an Idempotency-Key, the request is sent again after a lost connection, and the amount is held once.
    const headers = { "idempotency-key": `cli_${crypto.randomUUID()}` }
    const answer = yield* asPerson((as) => send("POST", path, { ...as, body, headers }))
    const newKey = yield* madeKey(answer, json)
    if (newKey === null) return
    yield* printKey(
      newKey,
      `$${Money.usd(amount)} is held for it until ${expires_at}. The key is shown only this once.`
    )
  })
).pipe(
  Command.withDescription(
    "Give a key with an amount of money, which is held at once. What its scope leaves out is taken from your key. The new key is shown once"
  ),
  Command.withExamples([
    {
      command: "rungate allowances create researcher --amount 2.00 --expires 2h --allow-capability email.find",
      description: "For an agent that may spend $2 on one capability in the next two hours"
    },
    {
      command: "rungate allowances create planner --amount 20 --expires 7d --allow-mint",
      description: "For an agent that gives allowances to others"
    }
  ])
)

const revoke = Command.make(
  "revoke",
  { allowance_id, yes, json },
  Effect.fnUntraced(function* ({ allowance_id, yes, json }) {
    const { send } = yield* Client
    const screen = yield* Screen
    yield* consent(
      `Revoke ${allowance_id} and the allowances under it? Their keys stop working, and what is unused returns. This can't be undone.`,
      { yes }
    )
    const answer = yield* asPerson((as) => send("DELETE", of(allowance_id), as))
    if (formatOf(screen, { json }) === "json") return yield* show(answer, { json: true }, () => Effect.succeed(null))
    const failure = yield* failureOf(answer)
    if (failure !== null) return yield* failure
    const { revokedLine } = yield* view
    yield* screen.say(revokedLine(answer.text) ?? `Revoked ${allowance_id}.`)
  })
).pipe(
  Command.withDescription(
    "Revoke an allowance and those under it. What is unused returns at once, and what open runs hold when they end"
  )
)

export const allowances = Command.make("allowances").pipe(
  Command.withDescription("Give, list, show and revoke allowances: keys with an amount of the wallet's money"),
  Command.withSubcommands([list, showOne, create, revoke])
)
