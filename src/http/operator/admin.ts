/**
 * What `rungate admin` does: organizations, their books, credit, refunds and keys. Loaded when one of them is run.
 *
 * Money moves as it does everywhere: a command is stored and a worker's turn applies it, so these work beside a running service,
 * and without one a credit waits for the next. Data goes to stdout, every other word to stderr.
 */
import { Clock, Console, Effect, Option, Redacted, References, Schema, Stdio, Terminal } from "effect"
import { CommandClient } from "../../actors/mailbox/CommandClient.ts"
import { encodeCredit } from "../../actors/mailbox/Commands.ts"
import { bad, known, onDatabase, organizationView, plain, print, table, unknown, when } from "./output.ts"
import { OperatorLayer } from "./OperatorLayer.ts"
import { Email } from "../api/shapes/AccountFields.ts"
import { CommandFailed } from "../cli/answers/Client.ts"
import { Accounts, type KeyRow } from "../../layers/accounts/Accounts.ts"
import { Books, type EntryRow } from "../../layers/ledger/Books.ts"
import { newId } from "../../layers/platform/Ids.ts"
import { Invitations } from "../../layers/accounts/Invitations.ts"
import { Reindex } from "../../layers/history/index/Reindex.ts"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { invitationPath, linkOf } from "../../schema/accounts/AccountMail.ts"
import { looksLike } from "../../schema/Ids.ts"
import { dollars, type MicroUsd, Usd, usd } from "../../schema/money/Money.ts"

const listMax = 1_000

export const organizations = (search: string | null, limit: number, json: boolean) =>
  Effect.gen(function* () {
    if (limit < 1 || limit > listMax) return yield* bad(`--limit must be from 1 to ${listMax}.`)
    const accounts = yield* Accounts
    const rows = yield* accounts.findOrganizations(search, limit + 1)
    const items = rows.slice(0, limit).map(organizationView)
    if (json) yield* print({ items, more: rows.length > limit })
    else {
      const head = [
        "organization",
        "name",
        "created",
        "balance",
        "reserved",
        "available",
        "runs today",
        "charged today"
      ]
      const lines = table(
        head,
        items.map((one, row) => [
          one.org_id,
          one.name,
          when(rows[row]?.created_at ?? null),
          one.balance,
          one.reserved,
          one.available,
          String(one.runs_today),
          one.charged_today
        ])
      )
      yield* Console.log(lines.join("\n"))
      if (rows.length > limit) yield* Console.error(`… and more: see --limit (now ${limit}) and --search`)
    }
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

/** One credit; keeps a typo from filling a wallet with a number nobody can read. */
const creditMax = dollars("1000000.00")
const noteLengthMax = 500
/** Signals and log lines carry it, so it is one short word. */
const referencePattern = /^[A-Za-z0-9._:/-]{1,100}$/

const decodeAmount = Schema.decodeUnknownOption(Usd)

const amountOf = Effect.fnUntraced(function* (text: string) {
  const amount = decodeAmount(text)
  if (Option.isNone(amount) || amount.value <= 0n || amount.value > creditMax) {
    return yield* bad(
      `"${text}" is no amount: it must be in USD, such as 10.00, above 0 and at most ${usd(creditMax)}.`
    )
  }
  return amount.value
})

/** Whether to go on: only somebody at a terminal can be asked. */
const agreed = Effect.fnUntraced(function* (question: string) {
  const stdio = yield* Stdio.Stdio
  if (!(yield* stdio.stdinIsTerminal)) return true
  const terminal = yield* Terminal.Terminal
  yield* Console.error(`${question} [y/N]`)
  const answer = yield* Effect.orElseSucceed(terminal.readLine, () => "")
  return /^y(es)?$/i.test(answer.trim())
})

const verbs = { bonus: "Credit", refund: "Refund" } as const
const done = { bonus: "credited", refund: "refunded" } as const

interface Crediting {
  readonly type: "bonus" | "refund"
  readonly org_id: string
  readonly amount: MicroUsd
  readonly note: string
  readonly reference: string
  readonly yes: boolean
  readonly json: boolean
}

const send = Effect.fnUntraced(function* (
  org_id: string,
  command_id: string,
  command: { readonly type: "bonus" | "refund"; readonly amount: MicroUsd; readonly note: string }
) {
  const commands = yield* CommandClient
  const payload = encodeCredit({ ...command, reference: command_id })
  // What the ledger says afterwards decides, with or without a reply.
  yield* Effect.ignore(commands.ask({ org_id, run_id: null, tag: "Credit", payload, command_id }))
})

const book = ({ type, org_id, amount, note, reference, yes, json }: Crediting) =>
  Effect.gen(function* () {
    const { name } = yield* known(org_id)
    const books = yield* Books
    // Replies are kept by it alone, so it names all that it must be unique in; a checkout's reference never looks like it.
    const command_id = `${type}:${org_id}:${reference}`

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
    /** A reference stands for one amount: another one is a mistake, not a retry. */
    const sameAmount = (entry: EntryRow) =>
      entry.amount === amount
        ? Effect.void
        : bad(`Reference "${reference}" was ${done[type]} with ${usd(entry.amount)} USD; nothing was changed.`)

    const before = yield* books.credit(org_id, command_id)
    if (before !== null) {
      yield* sameAmount(before)
      return yield* tell(`already_${done[type]}`, before)
    }
    if (!yes && !(yield* agreed(`${verbs[type]} ${usd(amount)} USD to ${org_id} (${plain(name)})?`))) {
      return yield* new CommandFailed({ message: "nothing was changed", exit_code: 1 })
    }
    yield* send(org_id, command_id, { type, amount, note })
    const entry = yield* books.credit(org_id, command_id)
    if (entry === null) {
      yield* tell("stored", null)
      return yield* new CommandFailed({
        message: `No worker took it yet: it is stored, and the next worker applies it once (rungate serve). To see, run this again with --reference ${reference}.`,
        exit_code: 8
      })
    }
    yield* sameAmount(entry)
    yield* tell(done[type], entry)
  }).pipe(Effect.provide(OperatorLayer), Effect.provideService(References.LogToStderr, true))

export const credit = ({ amount: text, note, reference: given, ...flags }: CreditFlags) =>
  Effect.gen(function* () {
    const amount = yield* amountOf(text)
    if (note.trim() === "" || note.length > noteLengthMax) {
      return yield* bad(`--note must say why, in at most ${noteLengthMax} characters.`)
    }
    const reference = given ?? newId("cmd")
    if (!referencePattern.test(reference)) {
      return yield* bad("--reference must be 1 to 100 letters, digits or any of . _ : / -")
    }
    yield* book({ ...flags, amount, note: note.trim(), reference })
  })

export const revoke = (key_id: string, json: boolean) =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const owner = looksLike("key", key_id) ? yield* accounts.ownerOfKey(key_id) : Option.none<string>()
    const revoked = Option.isNone(owner) ? Option.none<KeyRow>() : yield* accounts.revokeKey(owner.value, key_id)
    if (Option.isNone(owner) || Option.isNone(revoked)) return yield* unknown(`There is no API key "${key_id}".`)
    const { name, display, revoked_at } = revoked.value
    yield* json
      ? print({ id: key_id, org_id: owner.value, name, display, revoked_at: revoked_at?.toISOString() ?? null })
      : Console.log(`revoked: ${key_id} ${plain(name)} (${display}) of ${owner.value}, since ${when(revoked_at)}`)
  }).pipe(onDatabase)

const decodeEmail = Schema.decodeUnknownOption(Email)

export const invite = (text: string, json: boolean) =>
  Effect.gen(function* () {
    const email = decodeEmail(text.trim())
    if (Option.isNone(email)) return yield* bad(`"${plain(text)}" is no e-mail address.`)
    const settings = yield* Settings
    const made = yield* (yield* Invitations).invite(email.value)
    if (Option.isNone(made)) return yield* bad(`${email.value} has an account; its owner can sign in.`)
    const { token, expires_at } = made.value
    const link = linkOf(addressOf(settings), invitationPath, Redacted.value(token))
    yield* json
      ? print({ email: email.value, link, invitation: Redacted.value(token), expires_at: expires_at.toISOString() })
      : Console.log(link)
    yield* Console.error(
      `Send this link to ${email.value} only: it works once, until ${when(expires_at)}, and whoever opens it signs up with that address.`
    )
    if (settings.signUp === "closed")
      yield* Console.error("Sign-up is closed here: the link works once RUNGATE_SIGN_UP is invite or open.")
    if (settings.publicUrl === null)
      yield* Console.error("RUNGATE_PUBLIC_URL is not set: the link leads to this machine's own address.")
  }).pipe(onDatabase)

const progressMillis = 1_000

/** Goes on where an earlier one was broken off; `restart` begins anew. */
export const reindexHistory = (restart: boolean) =>
  Effect.gen(function* () {
    const reindex = yield* Reindex
    if (restart) yield* reindex.restart
    const all = yield* reindex.runs
    const sum = { checked: 0, missing: 0, segments: 0 }
    let told = yield* Clock.currentTimeMillis
    for (;;) {
      const step = yield* reindex.step
      if (step === null) break
      if (step._tag === "Renewed") sum.segments += 1
      else {
        sum.checked += step.runs
        sum.missing += step.missing
      }
      const now = yield* Clock.currentTimeMillis
      if (now - told < progressMillis) continue
      told = now
      const done =
        step._tag === "Checked"
          ? `${sum.checked} runs of about ${Math.max(all, sum.checked)} looked for`
          : `${sum.segments} segments made anew, ${step.left} left`
      yield* Console.error(`${done}; it may be broken off and goes on from there`)
    }
    yield* Console.log(
      `${sum.checked} runs looked for: ${sum.missing} were missing in the index; ${sum.segments} segments made anew.`
    )
  }).pipe(onDatabase)
