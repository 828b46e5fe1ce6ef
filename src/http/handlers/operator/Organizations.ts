/**
 * Organizations as the operator sees and changes them. Money is a command to the wallet's actor, and the audit log has every
 * change under the operator's name.
 */
import { Effect, Option, Schema } from "effect"
import { creditMax, makeBookCredit } from "../../../actors/operator/Credits.ts"
import { EventFeed } from "../../../actors/events/EventFeed.ts"
import { Accounts } from "../../../layers/accounts/Accounts.ts"
import { SecondFactors } from "../../../layers/accounts/SecondFactors.ts"
import { Audit } from "../../../layers/audit/Audit.ts"
import { BooksWatch } from "../../../layers/audit/BooksWatch.ts"
import type { Violation } from "../../../layers/audit/equations.ts"
import { AlertSettings } from "../../../layers/events/AlertSettings.ts"
import { Books } from "../../../layers/ledger/Books.ts"
import { WalletLimits } from "../../../layers/ledger/WalletLimits.ts"
import { makeOrganizationState } from "../../../layers/operator/OrganizationState.ts"
import { problem, refused } from "../../../schema/Errors.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { shownName } from "../../../schema/json/StorableText.ts"
import { usd } from "../../../schema/money/Money.ts"
import { auditOrganization } from "../../../schema/Steps.ts"
import { makeAsOperator, operatorActor } from "../../access/OperatorCookie.ts"
import { group } from "../group.ts"
import { pageBy } from "../ListPage.ts"
import { makeOrganizationOf } from "./NamedOrganization.ts"
import { guardView, keyView, organizationStateView, organizationView } from "./OrganizationAnswer.ts"
import { OperatorCredit } from "../../../schema/nouns/operator/Organization.ts"
import { WalletAudit } from "../../../schema/nouns/Wallet.ts"

const noKey = (key_id: string) =>
  problem("not_found", `There is no API key "${shownName(key_id)}". The keys of an organization are a part of it.`)
const noPerson = (user_id: string) =>
  problem("not_found", `There is no person "${shownName(user_id)}". The people of an organization are a part of it.`)
const badAmount = refused("amount", `must be above 0 and at most ${usd(creditMax)}`)
const storedCredit = (reference: string) =>
  problem(
    "service_unavailable",
    `The command is stored, but no worker has applied it yet. The next worker applies it once (rungate serve). Repeat it with reference ${reference} to see whether it is booked.`
  )
const otherAmount = (booked: bigint) =>
  refused("reference", `was already used for ${usd(booked)} USD; nothing was changed`)

/** Violations that a refusal names. The organization's audit lists them all. */
const namedMax = 5
const stillSuspended = (org_id: string, violations: ReadonlyArray<Violation>) => {
  const count = violations.length === 1 ? "The violation" : `${violations.length} violations, the first`
  const lines = violations.slice(0, namedMax).map((one) => `${one.equation}: ${one.subject}: ${one.detail}`)
  return problem(
    "wallet_suspended",
    withCommands`The books still do not add up, so the wallet stays suspended. ${count}: ${lines.join("; ")}. List them with ${auditOrganization(org_id)}.`
  )
}

const auditJson = Schema.encodeSync(WalletAudit)
const creditJson = Schema.encodeSync(OperatorCredit)

export const OperatorOrganizationsHandlers = group(
  "operatorOrganizations",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const alerts = yield* AlertSettings
    const asOperator = yield* makeAsOperator
    const auditor = yield* Audit
    const books = yield* Books
    const limits = yield* WalletLimits
    const bookCredit = yield* makeBookCredit
    const factors = yield* SecondFactors
    const feed = yield* EventFeed
    const stateOf = yield* makeOrganizationState
    const watch = yield* BooksWatch

    const { inPath: organizationOf } = yield* makeOrganizationOf

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const read = (before: string | null, limit: number) =>
          accounts.findOrganizations(query.search ?? null, before, limit)
        return yield* pageBy("org", query, read, ({ org_id }) => org_id, organizationView)
      }),

      get: Effect.fnUntraced(function* ({ params: { org_id } }) {
        yield* organizationOf(org_id)
        return organizationStateView(yield* books.snapshot(stateOf(org_id)))
      }),

      audit: Effect.fnUntraced(function* ({ params: { org_id } }) {
        yield* organizationOf(org_id)
        return auditJson({ ...(yield* auditor.wallet(org_id)), last_full_check: yield* auditor.last })
      }),

      credit: Effect.fnUntraced(function* ({ params: { org_id }, payload }) {
        const { type, amount, reference } = payload
        const note = payload.note.trim()
        if (amount <= 0n || amount > creditMax) return yield* badAmount
        yield* organizationOf(org_id)
        const { already, entry } = yield* bookCredit({ type, org_id, amount, note, reference }, yield* operatorActor)
        if (entry === null) return yield* Effect.fail(storedCredit(reference))
        if (entry.amount !== amount) return yield* otherAmount(entry.amount)
        const { balance, reserved } = yield* books.wallet(org_id)
        const transaction_id = entry.txn_id
        const available = balance - reserved
        return creditJson({ org_id, type, amount, reference, transaction_id, already, balance, available })
      }),

      setGuard: Effect.fnUntraced(function* ({ params: { org_id }, payload }) {
        yield* organizationOf(org_id)
        yield* asOperator(limits.change(org_id, payload))
        if ((payload.daily_limit ?? null) !== null) yield* alerts.watch(org_id)
        if (payload.daily_limit !== undefined) yield* feed.changed(org_id)
        return guardView(yield* books.wallet(org_id))
      }),

      resume: Effect.fnUntraced(function* ({ params: { org_id } }) {
        yield* organizationOf(org_id)
        const done = yield* watch.resume(org_id, yield* operatorActor)
        if (done._tag === "Violated") return yield* Effect.fail(stillSuspended(org_id, done.violations))
        return { org_id, suspended: false, already: done._tag === "NotSuspended" } as const
      }),

      removeFactors: Effect.fnUntraced(function* ({ params: { user_id: id } }) {
        const removed = looksLike("usr", id)
          ? yield* asOperator(factors.reset(id, null)).pipe(Effect.catchTag("MemberElsewhere", Effect.die))
          : null
        if (removed === null) return yield* Effect.fail(noPerson(id))
        return { id, ...removed }
      }),

      revokeKey: Effect.fnUntraced(function* ({ params: { key_id } }) {
        const owner = looksLike("key", key_id) ? yield* accounts.ownerOfKey(key_id) : Option.none<string>()
        if (Option.isNone(owner)) return yield* Effect.fail(noKey(key_id))
        const revoked = yield* asOperator(accounts.revokeKey(owner.value, key_id))
        if (Option.isNone(revoked)) return yield* Effect.fail(noKey(key_id))
        return keyView(owner.value, revoked.value)
      })
    })
  })
)
