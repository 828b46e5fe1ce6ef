/**
 * Shared by the operator's commands: output, errors, the look-up of an organization, and who the operator is.
 *
 * Data goes to stdout, messages to stderr.
 */
import { readFileSync } from "node:fs"
import { userInfo } from "node:os"
import { Console, Effect, Option, References } from "effect"
import { fail } from "../cli/terminal/exits.ts"
import { table as columnsTable } from "../cli/terminal/table.ts"
import type { Violation } from "../../layers/audit/equations.ts"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import type { OrganizationRow } from "../../layers/accounts/organizations/OrganizationList.ts"
import { AuditLog } from "../../layers/auditlog/AuditLog.ts"
import type { Actor } from "../../schema/accounts/Actor.ts"
import { looksLike } from "../../schema/Ids.ts"
import { Storage } from "../../layers/Storage.ts"

export const bad = (message: string) => fail("usage", message)
export const unknown = (message: string) => fail("not_found", message)

export const print = (value: unknown) => Console.log(JSON.stringify(value, null, 2))

/** Replaces control characters, because names and notes come from customers. */
export const plain = (text: string) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?")

/** As wide as its cells: operators read it in files and pipes too. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  columnsTable(
    rows,
    head.map((title, column) => ({ title, of: (row: ReadonlyArray<string>) => plain(row[column] ?? "") })),
    Number.POSITIVE_INFINITY,
    (line) => line
  )

export const violationLines = (violations: ReadonlyArray<Violation>) =>
  violations.map(({ equation, subject, detail }) => plain(`VIOLATION ${equation}: ${subject}: ${detail}`))

/** The first `limit` rows, and whether there are more. */
export const firstOf = <A, E, R>(limit: number, read: (limit: number) => Effect.Effect<ReadonlyArray<A>, E, R>) =>
  Effect.map(read(limit + 1), (rows) => ({ rows: rows.slice(0, limit), more: rows.length > limit }))

export const when = (time: Date | null) => (time === null ? "-" : `${time.toISOString().slice(0, 19)}Z`)

export const onDatabase = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  work.pipe(Effect.provide(Storage), Effect.provideService(References.LogToStderr, true))

export const orgOf = Effect.fnUntraced(function* (org_id: string) {
  const accounts = yield* Accounts
  const organization = looksLike("org", org_id) ? yield* accounts.organization(org_id) : Option.none<OrganizationRow>()
  if (Option.isSome(organization)) return organization.value
  return yield* unknown(`There is no organization "${org_id}". List organizations with: rungate admin orgs`)
})

/**
 * The operator as the audit log names them: the user of the operating system, or the user's number in a container that has no name for it.
 * Without the variable USER, as after `docker exec`, Bun calls every user "unknown".
 */
export const operator = Effect.sync(() => userInfo()).pipe(
  Effect.flatMap(({ uid, username }) =>
    username !== "unknown"
      ? Effect.succeed(username)
      : Effect.try(() => readFileSync("/etc/passwd", "utf8")).pipe(
          Effect.orElseSucceed(() => ""),
          Effect.map(
            (users) =>
              users
                .split("\n")
                .find((line) => line.split(":")[2] === String(uid))
                ?.split(":")[0]
          ),
          Effect.map((name) => name ?? `user ${uid}`)
        )
  ),
  Effect.map((name): Actor => ({ kind: "operator", id: null, name, address: null }))
)

/** Runs a change on behalf of the operator. */
export const asOperator = <A, E, R>(change: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const log = yield* AuditLog
    return yield* log.by(yield* operator)(change)
  })
