/** For the commands that work on the database without an operation of the API: the stores, an organization by its id, and who the operator is. */
import { readFileSync } from "node:fs"
import { userInfo } from "node:os"
import { Effect, Option, References } from "effect"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import type { OrganizationRow } from "../../layers/accounts/organizations/OrganizationList.ts"
import { AuditLog } from "../../layers/auditlog/AuditLog.ts"
import { Storage } from "../../layers/Storage.ts"
import type { Actor } from "../../schema/accounts/Actor.ts"
import { looksLike } from "../../schema/Ids.ts"
import { unknown } from "./output.ts"

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
