/**
 * Handler of `rungate providers check`: runs each offer of a provider once with a known subject, from an organization's wallet, and says
 * what came back. So an operator accepts a provider before customers use it.
 *
 * The running service executes the runs, like a customer's, with its own settings. The sum of all charges never exceeds `--max-cost`: each
 * run is capped at what is left of it. Offers with side effects are not run.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Clock, Console, Effect, Layer, Schema } from "effect"
import { Admission } from "../../../actors/runs/Admission.ts"
import type { CapabilityRequest } from "../../../actors/runs/RunRequests.ts"
import { DirectCommands } from "../../../actors/mailbox/DirectCommands.ts"
import { Lanes } from "../../../actors/mailbox/Lanes.ts"
import { Waiters } from "../../../actors/mailbox/Waiters.ts"
import { Accounts } from "../../../layers/accounts/Accounts.ts"
import { Catalog, type CatalogOffer } from "../../../layers/catalog/Catalog.ts"
import { Endpoints } from "../../../layers/catalog/Endpoints.ts"
import { ProviderChecks } from "../../../layers/catalog/ProviderChecks.ts"
import { keyVariable } from "../../../layers/catalog/ProviderReadiness.ts"
import { Breakers } from "../../../layers/executor/Breakers.ts"
import { OwnAccounts } from "../../../layers/provideraccounts/OwnAccounts.ts"
import { CostDrifts } from "../../../layers/executor/CostDrifts.ts"
import { ProviderCredits } from "../../../layers/executor/ProviderCredits.ts"
import { Health } from "../../../layers/executor/Health.ts"
import { Books } from "../../../layers/ledger/Books.ts"
import { newId } from "../../../layers/platform/Ids.ts"
import { Settings } from "../../../layers/platform/Settings.ts"
import { Queues } from "../../../layers/queues/Queues.ts"
import { Redis } from "../../../layers/queues/Redis.ts"
import { Signals } from "../../../layers/queues/Signals.ts"
import { Storage } from "../../../layers/Storage.ts"
import type { Capability } from "../../../schema/catalog/Capability.ts"
import { isRecord, parsedOrText } from "../../../schema/json/Json.ts"
import * as Money from "../../../schema/money/Money.ts"
import { estimatedCost, priceMax } from "../../../schema/money/Pricing.ts"
import { Attempt } from "../../../schema/runs/Run.ts"
import { didYouMean } from "../../../schema/suggestion.ts"
import { consent } from "../../cli/terminal/consent.ts"
import { bad, fail, failedWith } from "../../cli/terminal/exits.ts"
import type { FlagsOf } from "../../cli/terminal/flags.ts"
import type { checkFlags } from "../flags.ts"
import { onDatabase, orgOf } from "../../operator/database.ts"
import { harmless } from "../../cli/terminal/text.ts"
import { print, table, unknown } from "../../operator/output.ts"
import { recordingOf } from "./recording.ts"
import { subjectOf } from "./subjects.ts"
import type { RunRow } from "../../../schema/nouns/Run.ts"

type CheckFlags = FlagsOf<typeof checkFlags>

interface Planned {
  readonly capability: Capability
  readonly offer: CatalogOffer
  readonly input: unknown
  readonly quote: Money.MicroUsd
}

const decodeAttempts = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(Attempt)))

/** Longer than any provider's job may take. */
const waitMillis = 600_000

const AdmissionLayer = Admission.layer.pipe(
  Layer.provide(Layer.mergeAll(Lanes.layer, Waiters.layer, DirectCommands.layer, Breakers.layer)),
  Layer.provide(Layer.merge(Endpoints.layer, OwnAccounts.layer)),
  Layer.provideMerge(Layer.mergeAll(Catalog.layer, Health.layer, CostDrifts.layer, ProviderCredits.layer)),
  Layer.provide(Layer.mergeAll(Signals.layer, Queues.layer)),
  Layer.provide(Redis.layer),
  Layer.provideMerge(Storage)
)

const payingOrganization = Effect.fnUntraced(function* (org: string | null) {
  if (org !== null) return yield* orgOf(org)
  const [first, second] = yield* (yield* Accounts).findOrganizations(null, null, 2)
  if (first !== undefined && second === undefined) return first
  return yield* bad("Name the organization that pays with --org <org_id>. List organizations with: rungate admin orgs")
})

const answered = (outcome: string) =>
  ["succeeded", "inconclusive", "no_match", "invalid_response", "provider_rejected"].includes(outcome)

const isFilled = (value: unknown): boolean =>
  value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0)

/** The fields of a result, or of the first of its items. */
const fieldsOf = (
  result: unknown
): { readonly filled: ReadonlyArray<string>; readonly empty: ReadonlyArray<string> } => {
  if (!isRecord(result)) return { filled: [], empty: [] }
  const items = result["items"]
  const first: unknown = Array.isArray(items) ? items[0] : undefined
  const { raw: _raw, ...fields } = isRecord(first) ? first : result
  const names = Object.keys(fields)
  return {
    filled: names.filter((name) => isFilled(fields[name])),
    empty: names.filter((name) => !isFilled(fields[name]))
  }
}

const write = (folder: string, provider: string, capability: string, content: unknown): string => {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${provider}.${capability}.json`)
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`)
  return path
}

const submit = Effect.fnUntraced(function* (
  org_id: string,
  { capability, offer, input }: Planned,
  max_cost: Money.MicroUsd
) {
  const admission = yield* Admission
  const request: CapabilityRequest = {
    org_id,
    key_id: null,
    access: null,
    request_id: newId("req"),
    idempotency_key: null,
    fingerprint: "",
    wait_millis: waitMillis,
    metadata: null,
    capability: capability.slug,
    input,
    routing: { provider: offer.provider.slug, strategy: "best_value", max_cost, allow_fallback: false },
    include_raw: true
  }
  const { run } = yield* admission.submit({ _tag: "Capability", request })
  return run
})

const checkedOf = Effect.fnUntraced(function* (planned: Planned, run: RunRow, flags: CheckFlags) {
  const { capability, offer, input } = planned
  const { markup } = yield* Settings
  const [attempt] = decodeAttempts(run.attempts ?? "[]")
  const outcome = run.finished_at === null ? "still_running" : (attempt?.outcome ?? run.error_code ?? run.status)
  const result: unknown = typeof run.result === "string" ? parsedOrText(run.result) : run.result
  const charged = Money.MicroUsd(run.charged ?? 0n)
  const cost = run.finished_at === null ? null : yield* (yield* Books).providerCost(run.run_id)
  const expected = estimatedCost(charged, markup)
  const raw = isRecord(result) ? result["raw"] : undefined
  const recorded_at = new Date(yield* Clock.currentTimeMillis).toISOString()
  const about = { provider: offer.provider.slug, capability: capability.slug, recorded_at, input }
  const recording =
    flags.record === null || raw === undefined
      ? null
      : write(flags.record, about.provider, about.capability, recordingOf(about, offer.offer, raw))
  const view = {
    capability: capability.slug,
    run_id: run.run_id,
    // Whatever the provider said.
    answered: answered(outcome),
    // Whether the adapter read the answer as a result.
    parsed: run.status === "succeeded" || run.status === "no_match",
    outcome,
    detail: attempt?.detail ?? run.error_message,
    ...fieldsOf(result),
    charged: Money.usd(charged),
    cost: cost === null ? null : Money.usd(cost),
    // Whether the cost is what the price was computed from.
    cost_fits: cost === null ? null : cost <= expected,
    latency_ms: attempt?.duration_ms ?? 0,
    recording
  }
  yield* (yield* ProviderChecks).record({
    provider: offer.provider.slug,
    capability: capability.slug,
    run_id: run.run_id,
    passed: view.parsed && view.cost_fits !== false,
    outcome,
    latency_ms: BigInt(Math.max(0, Math.round(view.latency_ms))),
    charged,
    cost
  })
  return view
})

type Checked = Effect.Success<ReturnType<typeof checkedOf>>

const lines = (checks: ReadonlyArray<Checked>) =>
  table(checks, {
    capability: (one) => one.capability,
    answered: (one) => (one.answered ? "yes" : "no"),
    parsed: (one) => (one.parsed ? "yes" : "no"),
    outcome: (one) => one.outcome,
    filled: ({ filled, empty }) =>
      `${filled.length} of ${filled.length + empty.length}${empty.length === 0 ? "" : `, not ${empty.join(" ")}`}`,
    charged: (one) => one.charged,
    cost: ({ cost, cost_fits }) => `${cost ?? "-"}${cost_fits === false ? " (above its rate)" : ""}`,
    ms: (one) => one.latency_ms
  })

/** What can be run, and why the rest can't. */
const planOf = (entries: Catalog["Service"]["entries"], slug: string) => {
  const planned: Array<Planned> = []
  const skipped: Array<{ readonly capability: string; readonly why: string }> = []
  for (const { capability, offers } of entries) {
    const offer = offers.find((one) => one.provider.slug === slug)
    if (offer === undefined) continue
    const skip = (why: string) => skipped.push({ capability: capability.slug, why })
    const input = subjectOf(capability, offer.offer)
    if (!offer.offer.wired || capability.status !== "live") skip("does not run in production yet")
    else if (capability.side_effect)
      skip(`acts outside; try it by hand: rungate run ${capability.slug} --provider ${slug}`)
    else if (capability.uses(input).length > 0) skip("needs an object of the organization; try it by hand")
    else if (input === null) skip("serves no known subject; try it by hand")
    else planned.push({ capability, offer, input, quote: priceMax(offer.offer.price, capability.demand(input)) })
  }
  return { planned, skipped }
}

const findProvider = Effect.fnUntraced(function* (slug: string) {
  const catalog = yield* Catalog
  const provider = catalog.provider(slug)
  if (provider === undefined) {
    const names = catalog.providers.map((one) => one.slug)
    return yield* unknown(
      `There is no provider "${harmless(slug)}".${didYouMean(slug, names)} List them with: rungate providers`
    )
  }
  if (catalog.sandbox)
    return yield* bad(
      "This is the sandbox, whose answers are simulated. Set RUNGATE_MODE=production, as the service has it."
    )
  if (!catalog.isConfigured(provider))
    return yield* bad(`${slug} is not configured. Set ${keyVariable(slug)}, here and for the service.`)
  return provider
})

export const checkProvider = (flags: CheckFlags) =>
  Effect.gen(function* () {
    const { slug, max_cost, json, yes } = flags
    yield* findProvider(slug)
    const { planned, skipped } = planOf((yield* Catalog).entries, slug)
    const { org_id, name } = yield* payingOrganization(flags.org)
    const most = Money.min(max_cost, Money.sum(planned.map((one) => one.quote)))
    if (planned.length > 0) {
      const offers = planned.length === 1 ? "1 offer" : `${planned.length} offers`
      const question = `Run ${offers} of ${slug} for at most ${Money.usd(most)} USD from ${org_id} (${harmless(name)})?`
      yield* consent(question, { yes }, "Cancelled. Nothing was run.")
    }
    const checks: Array<Checked> = []
    let left = max_cost
    for (const one of planned) {
      const { slug: capability } = one.capability
      if (one.quote > left) {
        skipped.push({
          capability,
          why: `costs up to ${Money.usd(one.quote)}, and ${Money.usd(left)} of --max-cost is left`
        })
        continue
      }
      if (!json) yield* Console.error(`${capability} …`)
      const run = yield* Effect.result(submit(org_id, one, left))
      if (run._tag === "Failure") {
        skipped.push({ capability, why: run.failure.error.message })
        continue
      }
      const checked = yield* checkedOf(one, run.success, flags)
      checks.push(checked)
      // A run that has not ended may still be charged its quote.
      left = Money.minus(left, checked.outcome === "still_running" ? one.quote : Money.dollars(checked.charged))
    }
    const passed = checks.filter((one) => one.parsed && one.cost_fits !== false).length
    const charged = Money.usd(Money.sum(checks.map((one) => Money.dollars(one.charged))))
    if (json) yield* print({ provider: slug, org_id, charged, checks, skipped })
    else {
      if (checks.length > 0) yield* Console.log(lines(checks).join("\n"))
      for (const { capability, why } of skipped) yield* Console.log(`${capability}: not run, ${harmless(why)}`)
      for (const one of checks) if (one.recording !== null) yield* Console.error(`recorded: ${one.recording}`)
      yield* Console.log(`${passed} of ${checks.length} offers of ${slug} passed, charged ${charged} USD.`)
    }
    if (checks.some((one) => one.outcome === "still_running"))
      return yield* fail(
        "pending",
        "A run has not ended. Is a worker of the service running, with this account? Check again later."
      )
    if (passed < checks.length)
      return yield* failedWith(`${checks.length - passed} of ${checks.length} offers did not pass.`)
  }).pipe(Effect.provide(AdmissionLayer), onDatabase)
