/** Allowances: a person, or a key that may, hands out a key with an amount of money. Their rules are in actors/allowances. */
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { Allowances } from "../../../actors/allowances/Allowances.ts"
import { Accounts } from "../../../layers/accounts/Accounts.ts"
import { type AllowanceRefused, type AllowanceRow, AllowanceStore } from "../../../layers/allowances/AllowanceStore.ts"
import { ownMessage } from "../../../schema/accounts/OwnMessages.ts"
import { allows } from "../../../schema/accounts/Role.ts"
import { problem, refused, refusedWith } from "../../../schema/Errors.ts"
import { type Sentence, withCommands } from "../../../schema/Hints.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { Allowance } from "../../../schema/nouns/Allowance.ts"
import { listAllowances, signIn, topUp } from "../../../schema/Steps.ts"
import { needsRole } from "../../access/Access.ts"
import { group } from "../group.ts"
import { pageOf } from "../ListPage.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { makeAsCaller } from "../../middleware/Bearer.ts"
import { digestOf } from "../../submission/Fingerprint.ts"
import { idempotencyKeyOf } from "../../submission/SubmitRun.ts"
import { makeScopes, note, tooMany } from "./KeyScope.ts"

const unknown = (id: string) =>
  refusedWith("not_found", withCommands`There is no allowance "${id}". ${listAllowances} lists them.`, [
    { path: "path.allowance_id", message: "is not an allowance of this organization" }
  ])

const allowanceJson = Schema.encodeSync(Allowance)

const allowanceView = (row: AllowanceRow) => {
  const active = row.usable && row.state === "open"
  return allowanceJson({
    ...row,
    id: row.key_id,
    parent_id: row.parent_key_id,
    status: active ? "active" : "ended",
    held: row.held + row.reserved,
    available: active ? row.held : 0n
  })
}

const mayNotMint = problem(
  "forbidden",
  withCommands`This API key can't give allowances (allow.mint). A person can allow it, or sign in with ${signIn} and create the allowance.`
)
const notYours = problem(
  "forbidden",
  withCommands`An API key may revoke its own allowance and those that it gave. Sign in with ${signIn} and use the session token.`
)
/** The turn's sentence. A key without enough budget can't be topped up. */
const notEnough = (why: string, message: string): Sentence => ({
  message,
  commands: why === "insufficient_balance" ? [topUp] : []
})
const notHeldYet = problem(
  "service_unavailable",
  "The amount was not held in time, so no allowance was created. Try again, with the same Idempotency-Key if the request had one."
)

const refusal = ({ why, path, message }: AllowanceRefused) => {
  switch (why) {
    case "wider":
    case "expires_late":
    case "ended":
      return refused(path, message)
    case "key_reused":
      return refusedWith("idempotency_key_reused", `This Idempotency-Key ${message}. Use a new one.`)
    case "may_not_mint":
      return Effect.fail(mayNotMint)
    case "parent_ended":
    case "too_deep":
      return refusedWith("forbidden", message)
  }
}

export const AllowancesHandlers = group(
  "allowances",
  Effect.fnUntraced(function* (handlers) {
    const allowances = yield* Allowances
    const store = yield* AllowanceStore
    const accounts = yield* Accounts
    const scopes = yield* makeScopes
    const asCaller = yield* makeAsCaller

    /** A key that reads its own runs sees its own allowance, and those that it gave. */
    const allowanceOf = Effect.fnUntraced(function* (id: string) {
      const { org_id, access } = yield* CurrentCaller
      const row = looksLike("key", id) ? yield* store.find(org_id, id) : Option.none<AllowanceRow>()
      const reads = access?.reads ?? null
      if (reads === null || reads.includes(id)) return row
      const areUnder = yield* Effect.forEach(reads, (one) => store.isUnder(org_id, id, one))
      return areUnder.includes(true) ? row : Option.none<AllowanceRow>()
    })

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload }) {
        const caller = yield* CurrentCaller
        const { org_id, key_id, user_id } = caller
        const idempotency_key = yield* idempotencyKeyOf(headers["idempotency-key"])
        if (key_id !== null && caller.access?.allow?.mint !== true) return yield* Effect.fail(mayNotMint)
        const { name, amount, expires_at } = payload
        if (amount <= 0n) return yield* refused("amount", "must be above 0")
        if (expires_at.getTime() <= (yield* Clock.currentTimeMillis))
          return yield* refused("expires_at", "must be in the future")
        const allow = yield* scopes.allowOf(payload.allow ?? {})
        const terms = {
          name,
          amount,
          expires_at,
          allow,
          idempotency_key,
          fingerprint: digestOf({
            ...payload,
            amount: `${amount}`,
            allow: payload.allow ?? null,
            by: key_id ?? user_id
          })
        }
        const isOwn = (caller.access?.reads ?? null) !== null
        const shownMessage = (why: string, message: string) => (isOwn ? ownMessage(why, message) : message)
        const creation = store.create({ ...terms, org_id, environment: scopes.environment, parent_key_id: key_id })
        const minted = yield* creation.pipe(
          asCaller,
          Effect.catchTags({ AllowanceRefused: refusal, TooManyKeys: () => Effect.fail(tooMany) })
        )
        yield* allowances.hold(minted, idempotency_key !== null).pipe(
          Effect.catchTags({
            NotHeld: ({ why, message }) =>
              why === "wallet_suspended"
                ? refusedWith("wallet_suspended", message)
                : refusedWith("insufficient_balance", notEnough(why, shownMessage(why, message)), [
                    { path: "amount", message: "is more than can be held" }
                  ]),
            NotHeldYet: () => Effect.fail(notHeldYet)
          })
        )
        return HttpServerResponse.jsonUnsafe(
          { id: minted.key_id, api_key: Redacted.value(minted.token), note },
          { headers: minted.replayed ? { "idempotent-replay": "true" } : {} }
        )
      }),

      list: Effect.fnUntraced(function* ({ query }) {
        const { org_id, access } = yield* CurrentCaller
        const reads = access?.reads ?? null
        return yield* pageOf("key", query, (before, limit) => store.list(org_id, before, limit, reads), allowanceView)
      }),

      get: Effect.fnUntraced(function* ({ params: { allowance_id } }) {
        const row = yield* allowanceOf(allowance_id)
        return Option.isSome(row) ? allowanceView(row.value) : yield* unknown(allowance_id)
      }),

      revoke: Effect.fnUntraced(function* ({ params: { allowance_id } }) {
        const { org_id, key_id, user_id, role } = yield* CurrentCaller
        if (Option.isNone(yield* allowanceOf(allowance_id))) return yield* unknown(allowance_id)
        if (key_id !== null && key_id !== allowance_id && !(yield* store.isUnder(org_id, allowance_id, key_id)))
          return yield* Effect.fail(notYours)
        const key = Option.getOrNull(yield* accounts.key(org_id, allowance_id))
        if (role !== null && !allows(role, "admin") && key?.created_by !== user_id)
          return yield* Effect.fail(needsRole("admin", role, `A ${role} may revoke only allowances that they created.`))
        yield* asCaller(accounts.revokeKey(org_id, allowance_id))
        yield* allowances.settle(org_id)
        const row = yield* allowanceOf(allowance_id)
        return Option.isSome(row) ? allowanceView(row.value) : yield* unknown(allowance_id)
      })
    })
  })
)
