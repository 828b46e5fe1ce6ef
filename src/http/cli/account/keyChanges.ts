/**
 * `rungate keys update` and `rungate keys rotate`: change what an API key may do, and replace a key. Both need a session.
 *
 * `keys create` takes the same flags for what a key may do.
 */
import { Clock, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { keyReadings } from "../../../schema/accounts/KeyAccess.ts"
import * as Money from "../../../schema/money/Money.ts"
import { budgetPeriods } from "../../../schema/money/SpendDay.ts"
import { Client } from "../answers/Client.ts"
import { json, show } from "../answers/show.ts"
import { madeKey, printKey } from "../answers/newKey.ts"
import { Credentials } from "../state/Credentials.ts"
import { fail } from "../terminal/exits.ts"
import { boolean, text, usd } from "../terminal/flags.ts"
import { Screen } from "../terminal/Screen.ts"

const form = /^\$?(\d+(?:\.\d+)?)\/([a-z]+)$/
const isPeriod = (text: string | undefined): boolean => budgetPeriods.some((period) => period === text)

const budget = Flag.String("budget").pipe(
  Flag.withDescription("what its runs may charge and hold: 5/day, 20/week, 100/month or 500/total, in USD"),
  Flag.filter(
    (given) => isPeriod(form.exec(given.trim())?.[2]),
    (given) => `--budget must be an amount and a period, such as 5/day or 100/month, not ${given}`
  ),
  Flag.map((given) => {
    const [, limit = "", period = ""] = form.exec(given.trim()) ?? []
    return { limit, period }
  }),
  Flag.optional,
  Flag.map(Option.getOrNull)
)

const several = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.atLeast(0))

/** What a key may do. Allowances have these flags too. */
export const scopeFlags = {
  capabilities: several("allow-capability", "a capability that it may run; repeat the flag for several"),
  providers: several("allow-provider", "a provider that its runs may call; repeat the flag for several"),
  raw: boolean("allow-raw", "it may call raw endpoints, although --allow-capability names capabilities"),
  mint: boolean("allow-mint", "it may give allowances: keys with an amount of its money"),
  read_only: boolean("read-only", "reads and lookups only: nothing that acts outside, such as sending a message"),
  read: Flag.Literals("allow-read", keyReadings).pipe(
    Flag.withDescription(
      "own: it reads its own runs and budget only, the default of allowances and connected agents; organization: everything"
    ),
    Flag.optional,
    Flag.map(Option.getOrNull)
  ),
  max_cost: usd("max-cost", "the most that one of its runs may hold, in USD").pipe(
    Flag.optional,
    Flag.map(Option.getOrNull)
  )
}

export const ruleFlags = {
  budget,
  expires: text("expires", "when it stops working, such as 2026-12-31T00:00:00Z"),
  ...scopeFlags
}

export interface ScopeFlags {
  readonly capabilities: ReadonlyArray<string>
  readonly providers: ReadonlyArray<string>
  readonly raw: boolean
  readonly mint: boolean
  readonly read_only: boolean
  readonly read: (typeof keyReadings)[number] | null
  readonly max_cost: Money.MicroUsd | null
}

export interface RuleFlags extends ScopeFlags {
  readonly budget: { readonly limit: string; readonly period: string } | null
  readonly expires: string | null
}

/** The scope in a request. Without a flag of it there is none. */
export const scopeBody = (given: ScopeFlags) => {
  const allow = {
    ...(given.capabilities.length === 0 ? {} : { capabilities: given.capabilities }),
    ...(given.providers.length === 0 ? {} : { providers: given.providers }),
    ...(given.raw ? { raw: true } : {}),
    ...(given.mint ? { mint: true } : {}),
    ...(given.read_only ? { read_only: true } : {}),
    ...(given.read === null ? {} : { read: given.read }),
    ...(given.max_cost === null ? {} : { max_cost: Money.usd(given.max_cost) })
  }
  return Object.keys(allow).length === 0 ? {} : { allow }
}

/** The fields of the request. A flag that was not given adds none. */
export const rulesBody = (given: RuleFlags) => ({
  ...(given.expires === null ? {} : { expires_at: given.expires }),
  ...(given.budget === null ? {} : { budget: given.budget }),
  ...scopeBody(given)
})

const key_id = Argument.String("key_id").pipe(Argument.withDescription("id from keys list"))
const pathOf = (id: string) => `/v1/api-keys/${encodeURIComponent(id)}`

export const update = Command.make(
  "update",
  {
    key_id,
    name: text("name", "a new name"),
    ...ruleFlags,
    no_budget: boolean("no-budget", "remove the budget"),
    no_expiry: boolean("no-expiry", "remove the expiry"),
    no_scope: boolean("no-scope", "remove the scope: the key may do everything that keys may do"),
    json
  },
  Effect.fnUntraced(function* ({ key_id, name, no_budget, no_expiry, no_scope, json, ...rules }) {
    const { send } = yield* Client
    const { session } = yield* Credentials
    const screen = yield* Screen
    const given = rulesBody(rules)
    const twice =
      (no_budget && "budget" in given && "budget") ||
      (no_expiry && "expires_at" in given && "expiry") ||
      (no_scope && "allow" in given && "scope")
    if (twice !== false) return yield* fail("usage", `Give a ${twice} or --no-${twice}, not both.`)
    const body = {
      ...given,
      ...(name === null ? {} : { name }),
      ...(no_budget ? { budget: null } : {}),
      ...(no_expiry ? { expires_at: null } : {}),
      ...(no_scope ? { allow: null } : {})
    }
    if (Object.keys(body).length === 0) return yield* fail("usage", "Say what to change, such as --budget 5/day.")
    const answer = yield* send("PATCH", pathOf(key_id), { token: yield* session, body })
    yield* show(answer, { json }, (text) =>
      Effect.gen(function* () {
        const { keyDetails } = yield* Effect.promise(() => import("./KeysView.ts"))
        return keyDetails(text, screen)
      })
    )
  })
).pipe(
  Command.withDescription(
    "Change the name, budget, expiry or scope of an API key. The --allow flags replace its whole scope"
  ),
  Command.withExamples([
    { command: "rungate keys update key_… --budget 10/day", description: "Another budget" },
    { command: "rungate keys update key_… --no-expiry --read-only", description: "No expiry, and lookups only" }
  ])
)

export const rotate = Command.make(
  "rotate",
  {
    key_id,
    grace: Flag.Int("grace").pipe(
      Flag.withDescription("seconds for which the old key still works; default: it stops at once"),
      Flag.withDefault(0)
    ),
    json
  },
  Effect.fnUntraced(function* ({ key_id, grace, json }) {
    const { send } = yield* Client
    const { session } = yield* Credentials
    const answer = yield* send("POST", `${pathOf(key_id)}/rotate`, {
      token: yield* session,
      body: { grace_seconds: grace }
    })
    const newKey = yield* madeKey(answer, json)
    if (newKey === null) return
    const until = new Date((yield* Clock.currentTimeMillis) + grace * 1000).toISOString()
    const old = grace === 0 ? `${key_id} no longer works.` : `${key_id} works until ${until}.`
    yield* printKey(newKey, `The key is shown only this once. ${old}`)
  })
).pipe(
  Command.withDescription("Replace an API key by a new one with the same scope and budget; it is shown once"),
  Command.withExamples([
    { command: "rungate keys rotate key_… --grace 3600", description: "The old one works for an hour" }
  ])
)
