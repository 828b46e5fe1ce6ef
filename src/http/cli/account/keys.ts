/**
 * `rungate keys`: list, create, change, rotate and revoke API keys. All but list and revoking the own key need a session.
 *
 * A new key is printed once to stdout, or saved into the profile with --save.
 */
import { Clock, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { type Answer, Client } from "../answers/Client.ts"
import { consent } from "../terminal/consent.ts"
import { Credentials, saveKey } from "../state/Credentials.ts"
import { fail } from "../terminal/exits.ts"
import { pageFlags, readList } from "../answers/pages.ts"
import { asPerson } from "../answers/person.ts"
import { Screen } from "../terminal/Screen.ts"
import { decoded, failureOf, formatOf, json, jsonl, show, showList } from "../answers/show.ts"
import { madeKey, printKey } from "../answers/newKey.ts"
import { boolean, yes } from "../terminal/flags.ts"
import { rotate, ruleFlags, rulesBody, update } from "./keyChanges.ts"

const list = Command.make(
  "list",
  {
    ...pageFlags("keys"),
    json,
    jsonl
  },
  Effect.fnUntraced(function* ({ json, jsonl, ...given }) {
    const screen = yield* Screen
    yield* showList(yield* readList("/v1/api-keys", given), { json, jsonl }, (text) =>
      Effect.gen(function* () {
        const { keyLines } = yield* Effect.promise(() => import("./KeysView.ts"))
        return keyLines(text, screen, yield* Clock.currentTimeMillis)
      })
    )
  })
).pipe(Command.withDescription("List API keys, newest first"), Command.withAlias("ls"))

/** The error for a wrong environment: a service has either test or live keys. */
const Refused = Schema.Struct({
  error: Schema.Struct({ details: Schema.Array(Schema.Struct({ path: Schema.String })) })
})
const isOfOther = (answer: Answer) =>
  answer.status === 400 &&
  (decoded(Refused, answer.text)?.error.details ?? []).some(({ path }) => path === "environment")

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withDescription("a name that tells what the key is for")),
    environment: Flag.Literals("environment", ["test", "live"]).pipe(
      Flag.withDescription("default: the environment of the service (test in the sandbox, live in production)"),
      Flag.optional,
      Flag.map(Option.getOrNull)
    ),
    ...ruleFlags,
    save: boolean("save", "save the key in the profile instead of printing it"),
    json
  },
  Effect.fnUntraced(function* ({ name, environment, save, json, ...rules }) {
    const { send } = yield* Client
    const { session, profile, url } = yield* Credentials
    const screen = yield* Screen
    if (save && json)
      return yield* fail("usage", "Give only one of --save and --json. --save keeps the key, --json prints it.")
    const token = yield* session
    const ask = (of: "test" | "live") =>
      send("POST", "/v1/api-keys", { token, body: { name, environment: of, ...rulesBody(rules) } })
    const first = yield* ask(environment ?? "test")
    const answer = environment === null && isOfOther(first) ? yield* ask("live") : first
    const newKey = yield* madeKey(answer, json)
    if (newKey === null) return
    if (save) {
      // The key can't be shown again, so revoke it when saving fails.
      yield* saveKey(profile, { url, api_key: newKey.api_key }).pipe(
        Effect.tapError(() => send("DELETE", `/v1/api-keys/${encodeURIComponent(newKey.id)}`, { token }))
      )
      return yield* screen.say(`Created ${newKey.id} and saved it as profile "${profile}".`)
    }
    yield* printKey(newKey, "The key is shown only this once.")
  })
).pipe(
  Command.withDescription("Create an API key; it is shown once"),
  Command.withExamples([
    { command: "rungate keys create laptop --save", description: "For this machine" },
    {
      command: "rungate keys create agent --budget 5/day --allow-capability email.find --allow-capability email.verify",
      description: "For an agent that may spend $5 a day on two capabilities"
    },
    { command: "rungate keys create ci --quiet | gh secret set RUNGATE_API_KEY", description: "For another machine" }
  ])
)

const revoke = Command.make(
  "revoke",
  { key_id: Argument.String("key_id").pipe(Argument.withDescription("id from keys list")), yes, json },
  Effect.fnUntraced(function* ({ key_id, yes, json }) {
    const { send } = yield* Client
    const screen = yield* Screen
    yield* consent(`Revoke ${key_id}? Programs that use it stop working. This can't be undone.`, { yes })
    const answer = yield* asPerson((as) => send("DELETE", `/v1/api-keys/${encodeURIComponent(key_id)}`, as))
    if (formatOf(screen, { json }) === "json") return yield* show(answer, { json: true }, () => Effect.succeed(null))
    const failure = yield* failureOf(answer)
    if (failure !== null) return yield* failure
    yield* screen.say(`Revoked ${key_id}.`)
  })
).pipe(
  Command.withDescription(
    "Revoke an API key permanently. Revoking a key other than your own needs a session (rungate login)"
  )
)

export const keys = Command.make("keys").pipe(
  Command.withDescription("List, create, change, rotate and revoke API keys"),
  Command.withSubcommands([list, create, update, rotate, revoke])
)
