/** A connection that is lost within an audited change: the request says that the storage is away, and not that the service failed. */
import { expect, test } from "bun:test"
import { Cause, Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../../../src/layers/auditlog/AuditLog.ts"
import { isOutage } from "../../../src/layers/postgres/Outage.ts"
import { withStorage } from "../../kit/storage.ts"

const run = withStorage()

test("an audited change whose connection is lost ends as an outage", async () => {
  const exit = await run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { by } = yield* AuditLog
      const lost = sql`SELECT pg_terminate_backend(pg_backend_pid())`
      const change = Effect.andThen(lost, sql`SELECT 1`)
      return yield* Effect.exit(by({ kind: "operator", id: null, name: null, address: null })(change))
    })
  )
  expect(Exit.isFailure(exit) && isOutage(Cause.squash(exit.cause))).toBe(true)
})
