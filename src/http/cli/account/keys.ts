/**
 * `rungate keys`: list, create, change, rotate and revoke API keys. All but list and revoking the own key need a session.
 *
 * A new key is printed once to stdout, or saved into the profile with --save.
 */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { budgetPeriods } from "../../../schema/money/SpendDay.ts"
import { ServiceApi, ServiceInfo } from "../../api/Service.ts"
import { ApiKey } from "../../../schema/nouns/ApiKey.ts"
import { KeysApi } from "../../api/accounts/Keys.ts"
import { keyState, scopeWords } from "../../client/Words.ts"
import { detailed, listed, madeKey, newKey, said } from "../answers/draw.ts"
import { ask, call } from "../answers/operation.ts"
import { row, rowWith } from "../answers/row.ts"
import { Credentials, savedKeys } from "../state/Credentials.ts"
import { bad } from "../terminal/exits.ts"
import { argument, boolean, choice, int, required, optional, text } from "../terminal/flags.ts"
import { scopeFlags, scopeOf } from "./scope.ts"

const { endpoints } = KeysApi
type Key = typeof ApiKey.Encoded

const cells = {
  revoked: keyState,
  budget: ({ budget }: Key) => (budget === null ? null : `$${budget.spent} of $${budget.limit}/${budget.period}`),
  allow: (key: Key) => scopeWords(key)
}

const list = row(endpoints.list, { show: listed(ApiKey, "There are no API keys.", cells) })

const budgetForm = /^\$?(\d+(?:\.\d+)?)\/([a-z]+)$/
const budgetOf = (given: string) => {
  const [, limit = "", period = ""] = budgetForm.exec(given.trim()) ?? []
  const isPeriod = budgetPeriods.some((one) => one === period)
  return isPeriod ? Option.some({ limit, period }) : Option.none()
}

/** Fields with flags of their own. */
const rules = {
  budget: optional(
    required("budget", "what its runs may charge and hold: 5/day, 20/week, 100/month or 500/total, in USD").pipe(
      Flag.filterMap(
        budgetOf,
        (given) => `--budget must be an amount and a period, such as 5/day or 100/month, not ${given}`
      )
    )
  ),
  expires_at: text("expires", "when it stops working, such as 2026-12-31T00:00:00Z"),
  allow: false as const
}

/** A service has either test or live keys. */
const service = ask(ServiceApi.endpoints.get, {}, ServiceInfo)

const create = rowWith(
  endpoints.create,
  {
    scope: scopeFlags,
    save: boolean("save", "save the key in the profile instead of printing it")
  },
  Effect.fnUntraced(function* ({ scope, save }, { fields, json }) {
    if (save && json) return yield* bad("Give only one of --save and --json. --save keeps the key, --json prints it.")
    const environment = fields["environment"] ?? (yield* service).environment
    return { environment, ...scopeOf(scope) }
  }),
  {
    about: "Create an API key; it is shown once",
    fields: {
      name: argument("name", "a name that tells what the key is for"),
      environment: choice(
        "environment",
        ["test", "live"],
        "default: the environment of the service (test in the sandbox, live in production)"
      ),
      ...rules
    },
    examples: {
      "rungate keys create laptop --save": "For this machine",
      "rungate keys create agent --budget 5/day --allow-capability email.find --allow-capability email.verify":
        "For an agent that may spend $5 a day on two capabilities",
      "rungate keys create ci --quiet | gh secret set RUNGATE_API_KEY": "For another machine"
    },
    show: (answer, shown, { save }) =>
      save
        ? Effect.gen(function* () {
            const key = yield* madeKey(answer)
            const { profile, session, url } = yield* Credentials
            // The key can't be shown again, so revoke it when saving fails.
            yield* savedKeys
              .save(profile, { url, api_key: key.api_key })
              .pipe(
                Effect.tapError(() =>
                  Effect.flatMap(session, (token) => call(endpoints.revoke, { params: { key_id: key.id } }, { token }))
                )
              )
            yield* shown.screen.say(`Created ${key.id} and saved it as profile "${profile}".`)
          })
        : newKey("The key is shown only this once.")(answer, shown, null)
  }
)

const removals = {
  budget: boolean("no-budget", "remove the budget"),
  expiry: boolean("no-expiry", "remove the expiry"),
  scope: boolean("no-scope", "remove the scope: the key may do everything that keys may do")
}
const removed = { budget: "budget", expiry: "expires_at", scope: "allow" } as const

const update = rowWith(
  endpoints.change,
  { scope: scopeFlags, none: removals },
  Effect.fnUntraced(function* ({ scope, none }, { fields }) {
    const set = { ...fields, ...scopeOf(scope) }
    const without = (["budget", "expiry", "scope"] as const).filter((name) => none[name])
    const twice = without.find((name) => removed[name] in set)
    if (twice !== undefined) return yield* bad(`Give a ${twice} or --no-${twice}, not both.`)
    if (without.length === 0 && Object.keys(set).every((name) => name === "key_id"))
      return yield* bad("Say what to change, such as --budget 5/day.")
    return { ...set, ...Object.fromEntries(without.map((name) => [removed[name], null])) }
  }),
  {
    about: "Change the name, budget, expiry or scope of an API key. The --allow flags replace its whole scope",
    fields: { name: "a new name", ...rules },
    examples: {
      "rungate keys update key_… --budget 10/day": "Another budget",
      "rungate keys update key_… --no-expiry --read-only": "No expiry, and lookups only"
    },
    show: detailed(ApiKey, cells)
  }
)

const rotate = row(endpoints.rotate, {
  fields: {
    grace_seconds: int("grace", "seconds for which the old key still works; default: it stops at once").pipe(
      Flag.withDefault(0)
    )
  },
  examples: { "rungate keys rotate key_… --grace 3600": "The old one works for an hour" },
  show: newKey(({ fields: { key_id, grace_seconds }, now }) => {
    const until = new Date(now + Number(grace_seconds) * 1000).toISOString()
    return `The key is shown only this once. ${String(key_id)} ${grace_seconds === 0 ? "no longer works." : `works until ${until}.`}`
  })
})

const revoke = row(endpoints.revoke, {
  confirm: "Revoke {key_id}? Programs that use it stop working. This can't be undone.",
  show: said("Revoked {key_id}.")
})

export const keys = Command.make("keys").pipe(
  Command.withDescription("List, create, change, rotate and revoke API keys"),
  Command.withSubcommands([list, create, update, rotate, revoke])
)
