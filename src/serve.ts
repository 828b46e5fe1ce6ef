/**
 * `rungate serve`: runs the service in one role until it is stopped, and prints where it listens and what to try next.
 *
 * Ports are checked before anything is created. The first start in the sandbox creates a demo organization with simulated credit, and prints
 * its API key and a link to its console once.
 */
import { Console, Context, Effect, Layer, Option, Redacted } from "effect"
import { CommandClient } from "./actors/mailbox/CommandClient.ts"
import { encodeCredit } from "./actors/mailbox/Commands.ts"
import { service, worker } from "./App.ts"
import { endAtLast } from "./http/EndAtLast.ts"
import { announce } from "./http/cli/state/LocalService.ts"
import { Readiness } from "./http/middleware/Readiness.ts"
import { portTaken } from "./http/Listening.ts"
import { Server } from "./http/Server.ts"
import { waitingServer } from "./http/WaitingServer.ts"
import { Accounts } from "./layers/accounts/Accounts.ts"
import { Mails, resetMinutes } from "./layers/accounts/Mails.ts"
import { randomText } from "./layers/accounts/Secrets.ts"
import { Catalog } from "./layers/catalog/Catalog.ts"
import { CreatesDatabase, DatabaseUrl } from "./layers/postgres/connection/DatabaseUrl.ts"
import { Endpoints } from "./layers/catalog/Endpoints.ts"
import { capabilityCount, missingLines, readinessOf } from "./layers/catalog/ProviderReadiness.ts"
import { Replica } from "./layers/standby/Replica.ts"
import { reloadOnHangUp } from "./layers/platform/settings/hangUp.ts"
import { newId } from "./layers/platform/Ids.ts"
import { answerReloads } from "./layers/operator/Reloads.ts"
import { Queues } from "./layers/queues/Queues.ts"
import { RedisWait } from "./layers/queues/RedisStart.ts"
import { type Role, Settings } from "./layers/platform/Settings.ts"
import { unknownSettings } from "./layers/platform/unknownSettings.ts"
import { demoEmail, linkOf, resetPath } from "./schema/accounts/AccountMail.ts"
import { sendsEvents } from "./schema/catalog/Provider.ts"
import { dollars } from "./schema/money/Money.ts"
import packageJson from "../package.json" with { type: "json" }

/** From now on, `rungate admin reload` and SIGHUP have this process read its settings again. */
const acceptReloads = (role: Role) =>
  Effect.map(answerReloads(role), ({ run }) =>
    reloadOnHangUp(() => {
      run()
    })
  )

const demoCredit = dollars("25.00")

/** Fails if another process listens on the port. Otherwise the port is free again when this returns. */
const portFree = (host: string, port: number, settings: string) =>
  port === 0
    ? Effect.void
    : Effect.try({
        try: () => Bun.serve({ port, hostname: host, fetch: () => new Response() }),
        catch: () => portTaken(host, port, settings)
      }).pipe(
        Effect.flatMap((probe) => Effect.promise(() => probe.stop(true))),
        Effect.uninterruptible
      )

/** Checked first, so that a second service on the same port creates no database and starts no worker. */
const portsFree = Effect.fnUntraced(function* (role: Role) {
  const { host, port, metricsHost, metricsPort } = yield* Settings
  if (role !== "worker") yield* portFree(host, port, "PORT or HOST")
  if (metricsPort !== null) yield* portFree(metricsHost, metricsPort, "RUNGATE_METRICS_PORT or RUNGATE_METRICS_HOST")
})

const warnOfUnknownNames = Effect.gen(function* () {
  const parties = [...(yield* Endpoints).snapshot().providers.values()].map(({ slug, provider }) => ({
    slug,
    hasCredits: (provider?.credit ?? null) !== null,
    sendsEvents: provider !== null && sendsEvents(provider)
  }))
  for (const sentence of unknownSettings((yield* Settings).names, parties)) yield* Effect.logWarning(sentence)
})

/** What is real in this mode: one line for people who start the service. */
const modeLine = Effect.gen(function* () {
  const { current, mode } = yield* Settings
  const { stripe } = current()
  if (mode === "sandbox") return "Sandbox (default): providers and payments are simulated"
  const catalog = yield* Catalog
  const readiness = readinessOf(catalog.entries, catalog.providers, catalog.isConfigured)
  const configured = readiness.providers.filter((one) => one.configured).length
  return `Production: ${configured} of ${readiness.providers.length} providers configured, ${capabilityCount(readiness)}, payments ${stripe === null ? "off" : "on"}`
})

/** Capabilities without an account, for the operator who starts the service. `rungate providers` says more. */
const missingMax = 3
const missingAccounts = Effect.gen(function* () {
  const catalog = yield* Catalog
  if (catalog.sandbox) return []
  const missing = missingLines(readinessOf(catalog.entries, catalog.providers, catalog.isConfigured))
  const more = missing.length - missingMax
  const rest = more > 0 ? [`  and ${more} more; see: rungate providers`] : []
  return [...missing.slice(0, missingMax).map((line) => `  ${line}`), ...rest]
})

/** The demo organization's API key and the link that sets its owner's password, if this start created it. */
const demoCredentials = Effect.gen(function* () {
  const { mode } = yield* Settings
  const accounts = yield* Accounts
  const commands = yield* CommandClient
  if (mode !== "sandbox" || (yield* accounts.organizations) > 0) return null
  const owner = yield* Effect.option(
    accounts.signUp({
      email: demoEmail,
      // Nobody knows it. The link sets another one.
      password: Redacted.make(randomText(43)),
      organization: "Demo",
      daily_limit: null,
      address: "trusted",
      client: "",
      joining: () => Effect.void
    })
  )
  // Another process started at the same time, and created it.
  if (Option.isNone(owner)) return null
  const { org_id, user_id } = owner.value.session
  yield* accounts.signOut(owner.value.token)
  const link = yield* (yield* Mails).resetLink(user_id)
  const { token } = yield* accounts.createKey(org_id, "demo key", "test")
  // The database refuses a credit with this prefix in production (`ledger_credit_rules`).
  const reference = `simulated:${newId("cs")}`
  const payload = encodeCredit({
    type: "bonus",
    amount: demoCredit,
    reference,
    note: "simulated credit (sandbox: no money moved)"
  })
  // A role without a worker only stores the credit. The next worker applies it.
  yield* commands.ask({ org_id, run_id: null, tag: "Credit", payload, command_id: reference }).pipe(Effect.ignore)
  return { key: Redacted.value(token), link: Redacted.value(link) }
})

/** How to get a key when this start created none. */
const keyAdvice = Effect.gen(function* () {
  const [first, second] = yield* (yield* Accounts).findOrganizations(null, null, 2)
  if (first === undefined)
    return [
      "",
      "There is no organization yet. With the settings of this service, create the first one and its API key:",
      "",
      "  rungate admin orgs create Acme"
    ]
  const org_id = second === undefined ? first.org_id : "<org_id>"
  const orgs = org_id === "<org_id>" ? ["  rungate admin orgs"] : []
  return ["", "For another API key:", "", ...orgs, `  rungate admin keys create ${org_id}`]
})

const welcome = Effect.gen(function* () {
  const { url } = yield* Server
  const settings = yield* Settings
  const queues = yield* Queues
  const { embedded, sharing } = yield* DatabaseUrl
  const { standby } = yield* Replica
  const catalog = yield* Catalog
  const snapshot = (yield* Endpoints).snapshot()
  const endpoints = [...snapshot.providers.values()].reduce((sum, one) => sum + one.endpoints.length, 0)
  const demo = yield* demoCredentials
  const address = settings.publicUrl ?? url
  const lines = [
    "",
    `Rungate ${packageJson.version} (${settings.mode}) listens on ${url}`,
    `  ${yield* modeLine}`,
    ...(yield* missingAccounts),
    `  database ${embedded ? `embedded, in ${settings.dataDir}` : sharing === null ? "from DATABASE_URL" : "from DATABASE_URL, a connection pooler"}; queues on ${queues.backend === "redis" ? "Redis" : "Postgres"}`,
    ...(embedded
      ? [
          "    for trying out and small services: rungate admin backup copies it, rungate admin move takes it to a server"
        ]
      : []),
    ...(standby === null
      ? []
      : [`  lists and history are read from the standby at ${standby.place} while it is up to date`]),
    `  ${catalog.entries.length} capabilities, ${snapshot.providers.size} providers, ${endpoints} raw endpoints`,
    `  API reference ${address}/docs/api`,
    `  tools for agent hosts (MCP) at ${address}/mcp, with the key as a bearer token`,
    ...(demo === null
      ? yield* keyAdvice
      : [
          "",
          "Created a demo organization with $25.00 of simulated credit. Its test key, shown only once:",
          "",
          `  ${demo.key}`,
          "",
          `To open it in a browser as ${demoEmail}, set a password with this link. It works once, for ${resetMinutes} minutes:`,
          "",
          `  ${linkOf(address, resetPath, demo.link)}`
        ]),
    "",
    "Try:",
    "",
    `  export RUNGATE_API_KEY=${demo?.key ?? (settings.mode === "sandbox" ? "rg_test_…" : "rg_live_…")}`,
    `  curl -s ${address}/v1/discover -H "Content-Type: application/json" -d '{"query":"find the work email of a person"}'`,
    `  curl -s ${address}/v1/run -H "Authorization: Bearer $RUNGATE_API_KEY" -H "Content-Type: application/json" \\`,
    `    -d '{"capability":"email.find","input":{"full_name":"Ada Lovelace","company_domain":"example.com"}}'`,
    `  curl -s ${address}/v1/wallet/transactions -H "Authorization: Bearer $RUNGATE_API_KEY"`,
    ""
  ]
  yield* Console.log(lines.join("\n"))
})

export const serve = (role: Role) =>
  Effect.gen(function* () {
    yield* endAtLast
    yield* portsFree(role)
    const wait = yield* waitingServer(role)
    if (role === "worker") {
      const context = yield* Effect.provideService(Layer.build(worker), RedisWait, wait)
      yield* Effect.provideContext(Effect.andThen(warnOfUnknownNames, acceptReloads(role)), context)
      yield* Effect.logInfo(
        `Rungate ${packageJson.version} worker is taking turns and executing runs. ${yield* Effect.provideContext(modeLine, context)}.`
      )
      return yield* Effect.never
    }
    const context = yield* Effect.provideService(Layer.build(service(role)), RedisWait, wait)
    yield* announce(Context.get(context, Server).url)
    yield* Effect.provideContext(
      warnOfUnknownNames.pipe(Effect.andThen(acceptReloads(role)), Effect.andThen(welcome)),
      context
    )
    // Readiness is withdrawn before anything closes, so that requests that arrive meanwhile are still answered.
    return yield* Effect.onInterrupt(Effect.never, () => Context.get(context, Readiness).leave)
  }).pipe(Effect.scoped, Effect.provideService(CreatesDatabase, true))
