/** A connection that is lost within an audited change: the request says that the storage is away, and not that the service failed. */
import { expect, test } from "bun:test"
import { Cause, Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../../../src/layers/auditlog/AuditLog.ts"
import { isOutage } from "../../../src/layers/postgres/Outage.ts"
import { withStorage } from "../../kit/storage.ts"

const run = withStorage()

/** How an audited change ends that goes so after its connection is lost. */
const endOf = async (after: Effect.Effect<unknown, unknown, SqlClient.SqlClient>) => {
  const exit = await run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { by } = yield* AuditLog
      const lost = Effect.exit(sql`SELECT pg_terminate_backend(pg_backend_pid())`)
      return yield* Effect.exit(
        by({ kind: "operator", id: null, name: null, address: null })(Effect.andThen(lost, after))
      )
    })
  )
  return Exit.isFailure(exit) ? exit.cause : expect.unreachable("the change ended well")
}

test("an audited change whose connection is lost ends as an outage", async () => {
  expect(isOutage(Cause.squash(await endOf(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`))))).toBe(true)
})

test("one that is refused after its connection is lost ends with why", async () => {
  expect(await endOf(Effect.fail("the directory is away"))).toEqual(Cause.fail("the directory is away"))
})
