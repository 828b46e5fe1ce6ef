/**
 * Handlers of `rungate admin`: organizations, credit, refunds, invitations, keys, suspended wallets and the key of receipts. Loaded on demand.
 *
 * Credits are stored as wallet commands that a worker applies. So they work beside a running service, and without one they
 * wait for the next worker. Data goes to stdout, messages to stderr.
 */
import { Clock, Console, Effect, Option, Redacted, References, Schema, Stdio } from "effect"
import {
  creditMax,
  makeCredits,
  type NewCredit,
  noteLengthMax,
  referencePattern
} from "../../actors/operator/Credits.ts"
import { asOperator, operator, bad, firstOf, orgOf, onDatabase, plain, print, table, unknown, when } from "./output.ts"
import { OperatorLayer } from "./OperatorLayer.ts"
import { Email } from "../api/shapes/AccountFields.ts"
import { consent } from "../cli/terminal/consent.ts"
import { fail } from "../cli/terminal/exits.ts"
import { TypedUsd } from "../cli/terminal/TypedUsd.ts"
import { Accounts, type KeyRow } from "../../layers/accounts/Accounts.ts"
import { BooksWatch } from "../../layers/audit/BooksWatch.ts"
import { Books } from "../../layers/ledger/Books.ts"
import type { EntryRow } from "../../layers/ledger/EntryList.ts"
import { newId } from "../../layers/platform/Ids.ts"
import { Invitations } from "../../layers/accounts/Invitations.ts"
import { Reindex } from "../../layers/history/index/Reindex.ts"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { invitationPath, linkOf } from "../../schema/accounts/AccountMail.ts"
import { organizationView } from "../views/operator/OrganizationView.ts"
import { SigningKeys } from "../../layers/receipts/SigningKeys.ts"
import { looksLike } from "../../schema/Ids.ts"
import { usd } from "../../schema/money/Money.ts"

export const organizations = (search: string | null, limit: number, json: boolean) =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const { rows, more } = yield* firstOf(limit, (most) => accounts.findOrganizations(search, null, most))
    if (json) return yield* print({ items: rows.map(organizationView), more })
    const lines = table(
      ["organization", "name", "created", "balance", "reserved", "available", "runs today", "charged today"],
      rows.map((row) => {
        const { org_id, name, balance, reserved, available, runs_today, charged_today } = organizationView(row)
        return [org_id, name, when(row.created_at), balance, reserved, available, String(runs_today), charged_today]
      })
    )
    yield* Console.log(lines.join("\n"))
    if (more) yield* Console.error(`More organizations exist. Use --search, or raise --limit (now ${limit}).`)
  }).pipe(onDatabase)

export interface CreditFlags {
  readonly type: "bonus" | "refund"
  readonly org_id: string
  readonly amount: string
  readonly note: string
  readonly reference: string | null
  readonly yes: boolean
  readonly json: boolean
}

const decodeAmount = Schema.decodeUnknownOption(TypedUsd)

const amountOf = Effect.fnUntraced(function* (text: string) {
  const amount = decodeAmount(text)
  if (Option.isNone(amount) || amount.value <= 0n || amount.value > creditMax) {
    return yield* bad(`Invalid amount "${text}". Give USD such as 10.00, above 0 and at most ${usd(creditMax)}.`)
  }
  return amount.value
})

const verbs = { bonus: "Credit", refund: "Refund" } as const
const done = { bonus: "credited", refund: "refunded" } as const

interface Crediting extends NewCredit {
  readonly yes: boolean
  readonly json: boolean
}

const book = ({ yes, json, ...given }: Crediting) =>
  Effect.gen(function* () {
    const { type, org_id, amount, reference } = given
    const { name } = yield* orgOf(org_id)
    const books = yield* Books
    const credits = yield* makeCredits

    const tell = Effect.fnUntraced(function* (status: string, entry: EntryRow | null) {
      const { balance, reserved } = yield* books.wallet(org_id)
      const available = usd(balance - reserved)
      const transaction_id = entry?.txn_id ?? null
      if (json) {
        const view = { status, org_id, type, amount: usd(amount), reference, transaction_id }
        return yield* print({ ...view, balance: usd(balance), available })
      }
      const what = `${status.replaceAll("_", " ")}: ${usd(amount)} USD to ${org_id} (${plain(name)})`
      yield* Console.log(`${what}, reference ${reference}${entry === null ? "" : `, entry ${entry.txn_id}`}`)
      yield* Console.log(`balance ${usd(balance)}, available ${available} USD`)
    })
    /** A known reference with another amount is an error, not a retry. */
    const otherAmount = (entry: EntryRow) =>
      bad(`Reference "${reference}" was already ${done[type]} with ${usd(entry.amount)} USD. Nothing was changed.`)

    const before = yield* credits.booked(given)
    if (before._tag === "OtherAmount") return yield* otherAmount(before.entry)
    if (before._tag === "Booked") return yield* tell(`already_${done[type]}`, before.entry)
    // Scripts credit without --yes.
    if (yield* (yield* Stdio.Stdio).stdinIsTerminal) {
      yield* consent(`${verbs[type]} ${usd(amount)} USD to ${org_id} (${plain(name)})?`, { yes })
    }
    const { booked } = yield* credits.book(given, yield* operator)
    if (booked._tag === "OtherAmount") return yield* otherAmount(booked.entry)
    if (booked._tag === "Booked") return yield* tell(done[type], booked.entry)
    yield* tell("stored", null)
    return yield* fail(
      "pending",
      `The command is stored, but no worker has applied it yet. The next worker applies it once (rungate serve). To check, repeat the command with --reference ${reference}.`
    )
  }).pipe(Effect.provide(OperatorLayer), Effect.provideService(References.LogToStderr, true))

export const credit = ({ amount: text, note, reference: given, ...flags }: CreditFlags) =>
  Effect.gen(function* () {
    const amount = yield* amountOf(text)
    if (note.trim() === "" || note.length > noteLengthMax) {
      return yield* bad(`--note must give the reason, in 1 to ${noteLengthMax} characters.`)
    }
    const reference = given ?? newId("cmd")
    if (!referencePattern.test(reference)) {
      return yield* bad("--reference must have 1 to 100 characters: letters, digits or any of . _ : / -")
    }
    yield* book({ ...flags, amount, note: note.trim(), reference })
  })

export const revoke = (key_id: string, json: boolean) =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const owner = looksLike("key", key_id) ? yield* accounts.ownerOfKey(key_id) : Option.none<string>()
    const revoked = Option.isNone(owner)
      ? Option.none<KeyRow>()
      : yield* asOperator(accounts.revokeKey(owner.value, key_id))
    if (Option.isNone(owner) || Option.isNone(revoked))
      return yield* unknown(
        `There is no API key "${key_id}". List an organization's keys with: rungate admin show <org_id>`
      )
    const { name, display, revoked_at } = revoked.value
    yield* json
      ? print({ id: key_id, org_id: owner.value, name, display, revoked_at: revoked_at?.toISOString() ?? null })
      : Console.log(`revoked: ${key_id} ${plain(name)} (${display}) of ${owner.value}, since ${when(revoked_at)}`)
  }).pipe(onDatabase)

const decodeEmail = Schema.decodeUnknownOption(Email)

export const invite = (text: string, json: boolean) =>
  Effect.gen(function* () {
    const email = decodeEmail(text.trim())
    if (Option.isNone(email)) return yield* bad(`"${plain(text)}" is not an e-mail address.`)
    const settings = yield* Settings
    const invitation = yield* asOperator((yield* Invitations).invite(email.value))
    if (Option.isNone(invitation)) return yield* bad(`${email.value} already has an account and can sign in.`)
    const { token, expires_at } = invitation.value
    const link = linkOf(addressOf(settings), invitationPath, Redacted.value(token))
    yield* json
      ? print({ email: email.value, link, invitation: Redacted.value(token), expires_at: expires_at.toISOString() })
      : Console.log(link)
    yield* Console.error(
      `Send this link only to ${email.value}. It works once, until ${when(expires_at)}, and signs up with that address.`
    )
    if (settings.signUp === "closed")
      yield* Console.error("Sign-up is closed. The link works after RUNGATE_SIGN_UP is set to invite or open.")
    if (settings.publicUrl === null)
      yield* Console.error("RUNGATE_PUBLIC_URL is not set, so the link contains the local address of this machine.")
  }).pipe(onDatabase)

const progressMillis = 1_000

/** Continues an interrupted reindex; `restart` starts from the beginning. */
export const reindexHistory = (restart: boolean) =>
  Effect.gen(function* () {
    const reindex = yield* Reindex
    if (restart) yield* reindex.restart
    const all = yield* reindex.runs
    const sum = { checked: 0, missing: 0, segments: 0 }
    let shownAt = yield* Clock.currentTimeMillis
    for (;;) {
      const step = yield* reindex.step
      if (step === null) break
      if (step._tag === "Renewed") sum.segments += 1
      else if (step._tag === "Repaired") continue
      else {
        sum.checked += step.runs
        sum.missing += step.missing
      }
      const now = yield* Clock.currentTimeMillis
      if (now - shownAt < progressMillis) continue
      shownAt = now
      const done =
        step._tag === "Checked"
          ? `${sum.checked} of about ${Math.max(all, sum.checked)} runs checked`
          : `${sum.segments} segments rebuilt, ${step.left} left`
      yield* Console.error(`${done}. Safe to interrupt: the next call continues here.`)
    }
    yield* Console.log(
      `${sum.checked} runs checked: ${sum.missing} were missing in the index. ${sum.segments} segments rebuilt.`
    )
  }).pipe(onDatabase)

/** Makes a new key that signs receipts and ledger heads. */
export const rotateReceiptKey = (json: boolean) =>
  Effect.gen(function* () {
    const keys = yield* SigningKeys
    const { encryptionKeys } = (yield* Settings).current()
    const key = yield* asOperator(keys.rotate).pipe(
      Effect.catchTag("SigningUnavailable", () =>
        fail("failed", "Another process changed the key at the same time. Run the command again.")
      )
    )
    if (json) return yield* print(key)
    yield* Console.log(key.key_id)
    yield* Console.error(
      key.replaced === null
        ? "Made the first key of receipts."
        : `Receipts are signed with this key from now on. The public key ${key.replaced} stays published, so older receipts stay valid.`
    )
    if (encryptionKeys.length === 0)
      yield* Console.error(
        "The private key is not encrypted in the database. Set RUNGATE_ENCRYPTION_KEY to encrypt it."
      )
  }).pipe(onDatabase)

/** Violations that a refusal names. `rungate audit` lists them all. */
const namedMax = 5

/** Lets a wallet take runs again that a check of the books has suspended, if its books add up now. */
export const resume = (org_id: string, json: boolean) =>
  Effect.gen(function* () {
    const watch = yield* BooksWatch
    const { name } = yield* orgOf(org_id)
    const done = yield* watch.resume(org_id, yield* operator)
    if (done._tag === "NotSuspended")
      return yield* bad(`The wallet of ${org_id} is not suspended. Nothing was changed.`)
    if (done._tag === "Violated") {
      const named = done.violations.slice(0, namedMax).map((one) => `  ${one.equation}: ${one.subject}: ${one.detail}`)
      return yield* bad(
        `The books of ${org_id} still do not add up, so its wallet stays suspended (${done.violations.length} violations; rungate audit lists those of all wallets):\n${named.join("\n")}`
      )
    }
    yield* json
      ? print({ org_id, suspended: false })
      : Console.log(`resumed: the books of ${org_id} (${plain(name)}) add up, and it takes new runs again.`)
  }).pipe(onDatabase)
