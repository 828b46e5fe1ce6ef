/**
 * Shared by the operator's commands: output, errors, and the look-up of an organization.
 *
 * Data goes to stdout, messages to stderr.
 */
import { Console, Effect, Option, References } from "effect"
import { CommandFailed } from "../cli/answers/Client.ts"
import { Accounts, type OrganizationRow } from "../../layers/accounts/Accounts.ts"
import { looksLike } from "../../schema/Ids.ts"
import { usd } from "../../schema/money/Money.ts"
import { Storage } from "../../layers/Storage.ts"

/** Exit codes of http/cli/terminal/exits.ts. */
export const bad = (message: string) => new CommandFailed({ message, exit_code: 5 })
export const unknown = (message: string) => new CommandFailed({ message, exit_code: 250 })

export const print = (value: unknown) => Console.log(JSON.stringify(value, null, 2))

/** Replaces control characters, because names and notes come from customers. */
export const plain = (text: string) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?")

export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) => {
  const cells = [head, ...rows].map((row) => row.map(plain))
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd()
  )
}

export const when = (time: Date | null) => (time === null ? "-" : `${time.toISOString().slice(0, 19)}Z`)

export const onDatabase = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  work.pipe(Effect.provide(Storage), Effect.provideService(References.LogToStderr, true))

export const organizationView = (row: OrganizationRow) => ({
  org_id: row.org_id,
  name: row.name,
  created_at: row.created_at.toISOString(),
  balance: usd(row.balance),
  reserved: usd(row.reserved),
  available: usd(row.balance - row.reserved),
  runs_today: Number(row.runs_today),
  charged_today: usd(row.charged_today)
})

export const known = Effect.fnUntraced(function* (org_id: string) {
  const accounts = yield* Accounts
  const found = looksLike("org", org_id) ? yield* accounts.organization(org_id) : Option.none<OrganizationRow>()
  if (Option.isSome(found)) return found.value
  return yield* unknown(`There is no organization "${org_id}". List organizations with: rungate admin orgs`)
})
