/** `rungate provider-accounts`: the organization's own accounts at providers. Changes need a session. A key is never an argument. */
import { Clock, Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Client } from "../answers/Client.ts"
import { failureOf, formatOf, json, show } from "../answers/show.ts"
import { Credentials } from "../state/Credentials.ts"
import { consent } from "../terminal/consent.ts"
import { yes } from "../terminal/flags.ts"
import { Screen } from "../terminal/Screen.ts"
import { fromFile, fromStdin } from "../terminal/secret.ts"

const path = "/v1/provider-accounts"
const provider = Argument.String("provider").pipe(Argument.withDescription("such as hunter"))
const of = (slug: string) => `${path}/${encodeURIComponent(slug)}`
const view = Effect.promise(() => import("./ProviderAccountsView.ts"))
const session = Effect.flatMap(Credentials, (credentials) => credentials.session)

const list = Command.make(
  "list",
  { json },
  Effect.fnUntraced(function* ({ json }) {
    const { send } = yield* Client
    const screen = yield* Screen
    yield* show(yield* send("GET", path), { json }, (text) =>
      Effect.gen(function* () {
        const { accountLines } = yield* view
        return accountLines(text, screen, yield* Clock.currentTimeMillis)
      })
    )
  })
).pipe(Command.withDescription("List your accounts at providers"), Command.withAlias("ls"))

const set = Command.make(
  "set",
  {
    provider,
    keyFile: Flag.String("key-file").pipe(
      Flag.withDescription("read the key from the first line of this file; default: stdin, or a prompt on a terminal"),
      Flag.optional
    ),
    fallback: Flag.Boolean("fallback").pipe(
      Flag.withDescription("call this service's account, at its price, if the provider refuses your key"),
      Flag.withDefault(false)
    ),
    baseUrl: Flag.String("base-url").pipe(
      Flag.withDescription("the https address of your account, if it has one of its own"),
      Flag.optional
    ),
    json
  },
  Effect.fnUntraced(function* ({ provider, keyFile, fallback, baseUrl, json }) {
    const { send } = yield* Client
    const token = yield* session
    const what = `API key of ${provider}`
    const key = yield* Option.match(keyFile, { onNone: () => fromStdin(what), onSome: (file) => fromFile(file, what) })
    const address = Option.match(baseUrl, { onNone: () => ({}), onSome: (base_url) => ({ base_url }) })
    const body = { api_key: Redacted.value(key).trim(), fallback, ...address }
    yield* show(yield* send("PUT", of(provider), { token, body }), { json }, (text) =>
      Effect.map(view, ({ setLines }) => setLines(text))
    )
  })
).pipe(
  Command.withDescription("Call a provider through your own account"),
  Command.withExamples([
    { command: "rungate provider-accounts set hunter", description: "Asks for the key, without showing it" },
    {
      command: "rungate provider-accounts set hunter --fallback < key.txt",
      description: "If the key is refused, this service's account is called"
    }
  ])
)

const remove = Command.make(
  "remove",
  { provider, yes, json },
  Effect.fnUntraced(function* ({ provider, yes, json }) {
    const { send } = yield* Client
    const screen = yield* Screen
    const token = yield* session
    yield* consent(`Remove your account at ${provider}? Runs will use this service's account, at its price.`, { yes })
    const answer = yield* send("DELETE", of(provider), { token })
    if (formatOf(screen, { json }) === "json") return yield* show(answer, { json: true }, () => Effect.succeed(null))
    const failure = yield* failureOf(answer)
    if (failure !== null) return yield* failure
    yield* screen.say(`Removed your account at ${provider}. Its key is deleted.`)
  })
).pipe(Command.withDescription("Remove your account at a provider"), Command.withAlias("rm"))

export const providerAccounts = Command.make("provider-accounts").pipe(
  Command.withDescription("List, set and remove your own accounts at providers"),
  Command.withSubcommands([list, set, remove])
)
