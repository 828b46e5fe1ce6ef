/**
 * Quotes runs: plans a request as a run does, and says what it would hold, what it may charge, and whether the wallet admits it.
 *
 * A quote is free. It makes no run, no ledger entry and no hold, and it calls no provider.
 */
import { Clock, Effect, Option } from "effect"
import { LabelBudgets } from "../../layers/accounts/LabelBudgets.ts"
import { chained, type KeyBudget, leftIn } from "../../schema/wallet/KeyBudget.ts"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { decodeRules, ruleOf } from "../../schema/guards/Approval.ts"
import { contactKey, type Contacting } from "../../layers/guards/ContactTurn.ts"
import { GuardStore } from "../../layers/guards/GuardStore.ts"
import { refusalOf } from "../../layers/guards/OptOutTurn.ts"
import { HistoryStore } from "../../layers/history/HistoryStore.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { Books } from "../../layers/ledger/Books.ts"
import { turnRunOf } from "../../layers/ledger/DirectCommands.ts"
import { Catalog } from "../../layers/catalog/Catalog.ts"
import { type OfferCounts, OfferOutcomes } from "../../layers/quotes/OfferOutcomes.ts"
import type { NewRun } from "../../layers/runs/NewRuns.ts"
import * as Money from "../../schema/money/Money.ts"
import { priceMax } from "../../schema/money/Pricing.ts"
import { chargedAnswers } from "../../schema/catalog/Acceptance.ts"
import { marked } from "../../schema/accounts/OwnAccount.ts"
import { countsFor, expectedCharge, lowestCharge, successOf } from "../../schema/runs/Quote.ts"
import { contactRefusal, contactsPeople } from "../../schema/guards/ContactGuard.ts"
import { repeatRefusal } from "../../schema/guards/RepeatGuard.ts"
import { reasonOf } from "../../schema/guards/Reuse.ts"
import { decide, type Verdict, type Wallet } from "../../schema/wallet/Wallet.ts"
import { contactTies } from "../guards/ContactTies.ts"
import { Admission, type Planned } from "./Admission.ts"
import type { PlanRequest } from "./RunRequests.ts"
import type { CapabilityRoute } from "./CapabilityRoute.ts"
import { kindOf, subjectOf } from "./RunOutcomes.ts"

/** Why the run does not call an offer. Null if it may. */
export type NotChosen =
  | "max_cost"
  | "max_total"
  | "cannot_serve"
  | "no_account"
  | "unavailable"
  | "not_pinned"
  | "attempt_limit"

interface ConsideredOffer {
  readonly provider: string
  /** The maximum price for this input. */
  readonly price: Money.MicroUsd
  readonly excluded_because: NotChosen | null
  /** Set if the organization's own account is called. Its price is the fee. */
  readonly account?: "own"
}

export interface QuotedOffer extends ConsideredOffer {
  /** From 0 to 1. Null if too few calls were measured. */
  readonly expected_success: number | null
}

/** `label` is null for the budget of the API key. */
export interface QuotedBudget extends Pick<KeyBudget, "limit" | "period"> {
  readonly label: string | null
  readonly value: string | null
  readonly left: Money.MicroUsd
}

export interface Quote {
  /** Zero: a run that delivers nothing charges nothing. */
  readonly minimum: Money.MicroUsd
  /** Of the cheapest offers that the run calls, as many as it charges. */
  readonly from: Money.MicroUsd
  readonly expected: Money.MicroUsd
  readonly maximum: Money.MicroUsd
  readonly hold: Money.MicroUsd
  /** Offers that the run calls come first, in the order of the calls. */
  readonly offers: ReadonlyArray<QuotedOffer>
  readonly routing_reason: string
  /** The run whose result this one would take, at no cost. Null if it would buy. */
  readonly reused_from: string | null
  /** What the wallet would decide now. */
  readonly refused: Extract<Verdict, { _tag: "Refused" }> | null
  /** The name of the rule for which the run would wait. Null if it needs no approval. */
  readonly approval_rule: string | null
  /** Those that the run counts in. */
  readonly budgets: ReadonlyArray<QuotedBudget>
}

/** All offers of the capability, with the reason for each that is left out. */
const consideredOffers = ({ entry, chosen, demand }: CapabilityRoute): ReadonlyArray<ConsideredOffer> => {
  const why = new Map<string, NotChosen>([
    ...chosen.excluded.map(({ provider, reason }) => [provider, reason] as const),
    ...chosen.over_total.map(({ provider }) => [provider, "max_total"] as const),
    ...chosen.spare.map(({ provider }) => [provider, "attempt_limit"] as const)
  ])
  const called = chosen.candidates.map((one) => one.provider)
  const rest = entry.offers
    .filter((one) => !called.includes(one.provider.slug))
    .map(({ provider: { slug }, offer }) => ({
      provider: slug,
      price: priceMax(offer.price, demand),
      excluded_because: why.get(slug) ?? ("not_pinned" as const)
    }))
  return [
    ...chosen.candidates.flatMap(({ provider, quote, own, failover }) => [
      { provider, price: quote, excluded_because: null, ...marked(own !== undefined) },
      ...(failover === undefined ? [] : [{ provider, price: failover, excluded_because: null }])
    ]),
    ...rest
  ]
}

const offersOf = (planned: Planned): ReadonlyArray<ConsideredOffer> => {
  if (planned._tag === "Capability") return consideredOffers(planned.route)
  const { provider, raw, hold, own } = planned.route
  // Without published rates, only the hold bounds what a call may cost.
  const price = raw.estimate === null ? hold : Money.dollars(raw.estimate)
  const platform = { provider: provider.slug, price, excluded_because: null }
  if (own === null) return [platform]
  const mine = { ...platform, price: Money.dollars(own.fee), ...marked(true) }
  return own.fallback ? [mine, platform] : [mine]
}

/** Whether the offer before this one is the same one through the own account. */
const isFailover = (offers: ReadonlyArray<ConsideredOffer>, index: number): boolean => {
  const before = offers[index - 1]
  return before?.account === "own" && before.provider === offers[index]?.provider
}

/** The expected charge, from what was measured of the offers that the run calls. */
const expectedOf = (
  planned: Planned,
  offers: ReadonlyArray<ConsideredOffer>,
  countsOf: (provider: string) => ReturnType<typeof countsFor>
): Money.MicroUsd =>
  expectedCharge(
    // The service's account is called only after a refusal of the own one, which nothing measures.
    offers.flatMap(({ provider, price, excluded_because, account }, index) =>
      excluded_because === null && !(account === undefined && isFailover(offers, index))
        ? [{ price, counts: countsOf(provider) }]
        : []
    ),
    {
      bills_no_match:
        planned._tag === "Capability" &&
        planned.route.entry.capability.billing.bills_no_match &&
        planned.run.plan.accept === undefined,
      conclusive: planned.run.plan.conclusive === true,
      agree: planned.run.plan.accept?.agree !== undefined,
      hold: Money.MicroUsd(planned.run.hold)
    }
  )

/** Quotes a request. */
export const makeQuote = Effect.gen(function* () {
  const accounts = yield* Accounts
  const admission = yield* Admission
  const books = yield* Books
  const labelBudgets = yield* LabelBudgets
  const catalog = yield* Catalog
  const outcomes = yield* OfferOutcomes
  const guards = yield* GuardStore
  const withTies = contactTies(yield* HistoryStore, guards)
  const { repeatGuard } = yield* Settings

  const optedOut = (run: Contacting) => Effect.map(guards.optOuts([run]), (lists) => refusalOf(lists, run))

  /** Why a guard refuses the run now. Null if none does. */
  const guardedBy = Effect.fnUntraced(function* (run: NewRun) {
    // Without history the quote knows the identities in the request only.
    const { plan } = yield* withTies(run).pipe(Effect.catch(() => Effect.succeed(run)))
    const { contacts } = plan
    const { org_id, run_id } = run
    const opted = contacts === undefined ? null : yield* optedOut({ org_id, run_id, contacts })
    if (opted !== null) return opted
    const repeated = repeatGuard === 0 ? null : repeatRefusal(yield* guards.tries(run), repeatGuard)
    if (repeated !== null) return repeated
    if (contacts === undefined || !contactsPeople(run.capability)) return null
    const { days, latest } = yield* guards.contacts({ org_id, run_id, contacts })
    return contactRefusal(contacts, {
      days: days.get(org_id) ?? null,
      latest: (identity) => latest.get(contactKey(org_id, identity)) ?? null,
      now: BigInt(yield* Clock.currentTimeMillis) * 1_000n
    })
  })

  /** What the wallet's turn would decide on this run, by the turn's own rules. */
  const verdictOn = Effect.fnUntraced(function* (run: NewRun) {
    const {
      balance,
      reserved,
      allowances_held,
      per_run_limit,
      daily_limit,
      suspended,
      spent_today,
      today,
      time_zones,
      approval_rules,
      budget_labels
    } = yield* books.wallet(run.org_id)
    const limit = (amount: bigint | null) => (amount === null ? null : Money.MicroUsd(amount))
    const key =
      run.budget_id === null || run.key_id === null
        ? null
        : Option.getOrNull(yield* accounts.key(run.org_id, run.key_id))
    const wallet: Wallet = {
      org_id: run.org_id,
      balance: Money.MicroUsd(balance),
      reserved: Money.MicroUsd(reserved),
      allowances_held: Money.MicroUsd(allowances_held),
      entry_seq: 0n,
      per_run_limit: limit(per_run_limit),
      daily_limit: limit(daily_limit),
      spent_day: today,
      spent: Money.MicroUsd(spent_today),
      suspended,
      ...(time_zones === null ? {} : { time_zones })
    }
    const all = [...(key?.budget ? [key.budget] : []), ...(yield* labelBudgets.of(budget_labels, run))]
    const guarded = yield* guardedBy(run)
    const turnRun = { ...turnRunOf({ _tag: "Reserve", run }), ...(guarded === null ? {} : { guarded }) }
    return {
      verdict: decide(wallet, turnRun, { _tag: "Reserve" }, today, chained(all)).verdict,
      rule: approval_rules === null ? null : ruleOf(decodeRules(approval_rules), turnRun),
      budgets: all.map((budget) => ({
        ...{ label: budget.label?.name ?? null, value: budget.label?.value ?? null },
        ...{ limit: budget.limit, period: budget.period, left: leftIn(budget, today) }
      }))
    }
  })

  const quote = Effect.fnUntraced(function* (request: PlanRequest) {
    const planned = yield* admission.plan(request)
    const { run } = planned
    const offers = offersOf(planned)
    const input = planned._tag === "Capability" ? planned.route.input : request.request.input
    const { kind, rehearsed } = kindOf(run, input, catalog.sandbox)
    const subject = (provider: string) => subjectOf(run, provider)
    const counted = yield* outcomes.measured(
      offers.map((one) => subject(one.provider)),
      kind
    )
    const countsOf = (provider: string) => {
      const counts: OfferCounts | undefined = counted.get(subject(provider))
      return countsFor(counts?.kind ?? null, rehearsed ? null : (counts?.all ?? null))
    }
    const { org_id, run_id, input_hash, plan } = run
    const { reuse } = plan
    const reused_from =
      reuse === undefined
        ? null
        : ((yield* guards.reusable({ org_id, run_id, input_hash, reuse })) ?? reuse.found?.run_id ?? null)
    const buys = reused_from === null && reuse?.mode !== "only"
    const free: Verdict = { _tag: "Admitted" }
    const { verdict, rule, budgets } = buys ? yield* verdictOn(run) : { verdict: free, rule: null, budgets: [] }
    const hold = buys ? Money.MicroUsd(run.hold) : Money.zero
    return {
      minimum: Money.zero,
      expected: buys ? expectedOf(planned, offers, countsOf) : Money.zero,
      reused_from,
      from: lowestCharge(
        offers.filter((one) => one.excluded_because === null),
        chargedAnswers(plan.accept),
        hold
      ),
      maximum: hold,
      hold,
      offers: offers.map((one) => ({ ...one, expected_success: successOf(countsOf(one.provider)) })),
      routing_reason: reasonOf({ ...run, reused_from }),
      refused: verdict._tag === "Refused" ? verdict : null,
      approval_rule: rule?.name ?? null,
      budgets
    } satisfies Quote
  })

  return quote
})
