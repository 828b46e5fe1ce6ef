/**
 * `rungate serve`: runs the service in one role until it is told to stop, and prints where it listens and what to try next.
 *
 * The first start in the sandbox makes a demo organization with simulated credit and prints its key, once.
 */
import { Console, Context, Effect, Layer, Redacted } from "effect"
import { CommandClient } from "./actors/mailbox/CommandClient.ts"
import { encodeCredit } from "./actors/mailbox/Commands.ts"
import { service, worker } from "./App.ts"
import { announce } from "./http/cli/state/LocalService.ts"
import { Readiness } from "./http/door/Readiness.ts"
import { Server } from "./http/Server.ts"
import { Accounts } from "./layers/accounts/Accounts.ts"
import { Catalog } from "./layers/catalog/Catalog.ts"
import { DatabaseUrl } from "./layers/postgres/Database.ts"
import { Endpoints } from "./layers/catalog/Endpoints.ts"
import { newId } from "./layers/platform/Ids.ts"
import { Queues } from "./layers/queues/Queues.ts"
import { type Role, Settings } from "./layers/platform/Settings.ts"
import { dollars } from "./schema/money/Money.ts"

const demoCredit = dollars("25.00")

/** The demo organization's key, when this start created it. */
const demoKey = Effect.gen(function* () {
  const { mode } = yield* Settings
  const accounts = yield* Accounts
  const commands = yield* CommandClient
  if (mode !== "sandbox" || (yield* accounts.organizations) > 0) return null
  const org_id = yield* accounts.createOrganization("Demo", null)
  const { token } = yield* accounts.createKey(org_id, "demo key", "test")
  // The database refuses a credit with this prefix in production (migrations/0018_outcomes.ts).
  const reference = `simulated:${newId("cs")}`
  const payload = encodeCredit({
    type: "bonus",
    amount: demoCredit,
    reference,
    note: "simulated credit (sandbox: no money moved)"
  })
  // A role without a worker stores the credit; whichever worker comes next applies it.
  yield* commands.ask({ org_id, run_id: null, tag: "Credit", payload, command_id: reference }).pipe(Effect.ignore)
  return Redacted.value(token)
})

const welcome = Effect.gen(function* () {
  const { url } = yield* Server
  const settings = yield* Settings
  const queues = yield* Queues
  const { embedded } = yield* DatabaseUrl
  const catalog = yield* Catalog
  const snapshot = (yield* Endpoints).snapshot()
  const endpoints = [...snapshot.providers.values()].reduce((sum, one) => sum + one.endpoints.length, 0)
  const key = yield* demoKey
  const address = settings.publicUrl ?? url
  const lines = [
    "",
    `Rungate (${settings.mode}) listens on ${url}`,
    `  database ${embedded ? `embedded, in ${settings.dataDir}` : "from DATABASE_URL"}; queues on ${queues.backend === "redis" ? "Redis" : "Postgres"}`,
    `  ${catalog.entries.length} capabilities, ${snapshot.providers.size} providers, ${endpoints} raw endpoints`,
    `  API reference ${address}/docs`,
    `  tools for agent hosts (MCP) at ${address}/mcp, with the key as a bearer token`,
    ...(key === null
      ? []
      : [
          "",
          "A demo organization with $25.00 of simulated credit is ready. Its test key is shown this once:",
          "",
          `  ${key}`
        ]),
    "",
    "Try:",
    "",
    ...(key === null ? ["  export RUNGATE_API_KEY=rg_test_…"] : [`  export RUNGATE_API_KEY=${key}`]),
    `  curl -s ${address}/v1/discover -H "Content-Type: application/json" -d '{"query":"find the work email of a person"}'`,
    `  curl -s ${address}/v1/run -H "Authorization: Bearer $RUNGATE_API_KEY" -H "Content-Type: application/json" \\`,
    `    -d '{"capability":"email.find","input":{"full_name":"Ada Lovelace","company_domain":"example.com"}}'`,
    `  curl -s ${address}/v1/wallet/transactions -H "Authorization: Bearer $RUNGATE_API_KEY"`,
    ""
  ]
  yield* Console.log(lines.join("\n"))
})

export const serve = (role: Role) =>
  role === "worker"
    ? Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(worker)
          yield* Effect.logInfo("Rungate worker is taking turns and executing runs")
          yield* Effect.never
        })
      )
    : Effect.scoped(
        Effect.gen(function* () {
          const context = yield* Layer.build(service(role))
          yield* announce(Context.get(context, Server).url)
          yield* Effect.provideContext(welcome, context)
          // Before anything is closed: a request that comes meanwhile is answered.
          yield* Effect.onInterrupt(Effect.never, () => Context.get(context, Readiness).leave)
        })
      )
