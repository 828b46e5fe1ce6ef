/**
 * What `rungate admin` does: organizations, their books, credit, refunds and keys. Loaded when one of them is run.
 *
 * Money moves as it does everywhere: a command is stored and a worker's turn applies it, so these work beside a running service,
 * and without one a credit waits for the next. Data goes to stdout, every other word to stderr.
 */
import { Console, Effect, Option, References, Schema, Stdio, Terminal } from "effect"
import { Asking } from "./actors/Asking.ts"
import { encodeCredit } from "./actors/Commands.ts"
import { Commanding, Storage } from "./Storage.ts"
import { CommandFailed } from "./http/client/Client.ts"
import { Accounts, type KeyRow, type OrganizationRow } from "./layers/Accounts.ts"
import type { Violation } from "./layers/audit/equations.ts"
import { Books, type EntryRow, type OpenRunRow, type WalletRow } from "./layers/Books.ts"
import { newId } from "./layers/Ids.ts"
import { looksLike } from "./schema/Ids.ts"
import { dollars, type MicroUsd, Usd, usd } from "./schema/Money.ts"

/** Exit codes as http/cli/output.ts has them. */
const bad = (message: string) => new CommandFailed({ message, exit_code: 5 })
const unknown = (message: string) => new CommandFailed({ message, exit_code: 250 })

const print = (value: unknown) => Console.log(JSON.stringify(value, null, 2))

/** Names and notes are other people's words: one that moves the cursor must not rewrite what an operator reads. */
const plain = (text: string) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?")

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) => {
  const cells = [head, ...rows].map((row) => row.map(plain))
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd()
  )
}

const when = (time: Date | null) => (time === null ? "-" : `${time.toISOString().slice(0, 19)}Z`)

const onDatabase = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  work.pipe(Effect.provide(Storage), Effect.provideService(References.LogToStderr, true))

const organizationView = (row: OrganizationRow) => ({
  org_id: row.org_id,
  name: row.name,
  created_at: row.created_at.toISOString(),
  balance: usd(row.balance),
  reserved: usd(row.reserved),
  available: usd(row.balance - row.reserved),
  runs_today: Number(row.runs_today),
  charged_today: usd(row.charged_today)
})

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

const known = Effect.fnUntraced(function* (org_id: string) {
  const accounts = yield* Accounts
  const found = looksLike("org", org_id) ? yield* accounts.organization(org_id) : Option.none<OrganizationRow>()
  if (Option.isSome(found)) return found.value
  return yield* unknown(`There is no organization "${org_id}"; rungate admin orgs lists them.`)
})

const entriesShown = 20
const keysShown = 100
const runsShown = 50

interface Shown {
  readonly organization: OrganizationRow
  readonly wallet: WalletRow
  readonly keys: ReadonlyArray<KeyRow>
  readonly entries: ReadonlyArray<EntryRow>
  readonly runs: ReadonlyArray<OpenRunRow>
  readonly violations: ReadonlyArray<Violation>
}

const limitOf = (limit: bigint | null) => (limit === null ? null : usd(limit))

const viewOf = ({ organization, wallet, keys, entries, runs, violations }: Shown) => ({
  ...organizationView(organization),
  guard: {
    per_run_limit: limitOf(wallet.per_run_limit),
    daily_limit: limitOf(wallet.daily_limit),
    spent_today: usd(wallet.spent_today),
    resets_at: wallet.resets_at.toISOString()
  },
  keys: keys.map((key) => ({
    id: key.key_id,
    name: key.name,
    environment: key.environment,
    display: key.display,
    created_at: key.created_at.toISOString(),
    last_used_at: key.last_used_at?.toISOString() ?? null,
    revoked_at: key.revoked_at?.toISOString() ?? null
  })),
  entries: entries.map((entry) => ({
    id: entry.txn_id,
    type: entry.type,
    amount: usd(entry.amount),
    balance_after: usd(entry.balance_after),
    reference: entry.reference,
    note: entry.note,
    created_at: entry.created_at.toISOString()
  })),
  open_runs: runs.map((run) => ({
    run_id: run.run_id,
    capability: run.capability,
    endpoint: run.endpoint,
    status: run.state,
    hold: usd(run.hold),
    since: run.since.toISOString()
  })),
  books: { add_up: violations.length === 0, violations }
})

const textOf = ({ organization, wallet, keys, entries, runs, violations }: Shown): ReadonlyArray<string> => {
  const section = (title: string, head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
    rows.length === 0 ? ["", `${title}: none`] : ["", `${title}:`, ...table(head, rows).map((line) => `  ${line}`)]
  const most = (title: string, count: number, max: number) => (count < max ? title : `${title} (the first ${max})`)
  return [
    `${organization.org_id}  ${plain(organization.name)}  (created ${when(organization.created_at)})`,
    `wallet: balance ${usd(wallet.balance)}, reserved ${usd(wallet.reserved)}, available ${usd(wallet.balance - wallet.reserved)} USD`,
    `guard: per run ${limitOf(wallet.per_run_limit) ?? "no limit"}, per day ${limitOf(wallet.daily_limit) ?? "no limit"}; today ${usd(wallet.spent_today)} charged, ${organization.runs_today} runs`,
    ...section(
      most("keys, newest first", keys.length, keysShown),
      ["id", "name", "environment", "display", "last used", "revoked"],
      keys.map((key) => [
        key.key_id,
        key.name,
        key.environment,
        key.display,
        when(key.last_used_at),
        when(key.revoked_at)
      ])
    ),
    ...section(
      `last ${entriesShown} ledger entries, newest first`,
      ["at", "type", "amount", "balance after", "reference", "note"],
      entries.map((entry) => [
        when(entry.created_at),
        entry.type,
        usd(entry.amount),
        usd(entry.balance_after),
        entry.reference,
        entry.note ?? ""
      ])
    ),
    ...section(
      most("open runs, oldest first", runs.length, runsShown),
      ["id", "of", "status", "hold", "since"],
      runs.map((run) => [run.run_id, run.capability ?? run.endpoint ?? "", run.state, usd(run.hold), when(run.since)])
    ),
    "",
    ...violations.map(({ equation, subject, detail }) => plain(`VIOLATION ${equation}: ${subject}: ${detail}`)),
    violations.length === 0 ? "books: add up" : `books: ${violations.length} violations`
  ]
}

export const show = (org_id: string, json: boolean) =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const books = yield* Books
    yield* known(org_id)
    const shown = yield* books.snapshot(
      Effect.all({
        organization: Effect.orDie(known(org_id)),
        wallet: books.wallet(org_id),
        keys: accounts.keys(org_id, null, keysShown),
        entries: books.entries(org_id, null, entriesShown),
        runs: books.openRuns(org_id, runsShown),
        violations: books.violations(org_id)
      })
    )
    yield* json ? print(viewOf(shown)) : Console.log(textOf(shown).join("\n"))
    if (shown.violations.length > 0) {
      return yield* new CommandFailed({ message: `the books of ${org_id} do not add up`, exit_code: 1 })
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
  const asking = yield* Asking
  const payload = encodeCredit({ ...command, reference: command_id })
  // What the ledger says afterwards decides, with or without a reply.
  yield* Effect.ignore(asking.ask({ org_id, run_id: null, tag: "Credit", payload, command_id }))
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
  }).pipe(Effect.provide(Commanding), Effect.provideService(References.LogToStderr, true))

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
