/** A service without work asks its database one question a second for all of its background work. */
import { expect, test } from "bun:test"
import { Effect, Layer } from "effect"
import { Statement } from "effect/sql"
import { LookSeconds } from "../../src/actors/runs/OutcomeLookups.ts"
import { DisputeSeconds } from "../../src/actors/warranty/DisputeWorker.ts"
import { DueSeconds } from "../../src/layers/postgres/connection/KeepAwake.ts"
import { until, verify, withApp } from "../kit/app.ts"

const statements = new Map<string, number>()
const counted = Layer.succeed(Statement.CurrentTransformer, (statement) =>
  Effect.sync(() => {
    const [text] = statement.compile()
    statements.set(text, (statements.get(text) ?? 0) + 1)
    return statement
  })
)
const app = withApp({
  limits: Layer.mergeAll(
    counted,
    Layer.succeed(DueSeconds, 0.01),
    Layer.succeed(LookSeconds, 3_600),
    Layer.succeed(DisputeSeconds, 3_600)
  )
})

const looks = () => [...statements].find(([text]) => text.startsWith("SELECT ARRAY[EXISTS"))?.[1] ?? 0
const looksAtRest = 50

test("nothing else is asked as often as what is due", async () => {
  const org = await app.tenant("1.00")
  expect((await org.run(verify())).body.status).toBe("succeeded")
  await until(
    "the run to be indexed and counted",
    () => app.sql("SELECT FROM history_queue UNION ALL SELECT FROM usage_queue"),
    (rows) => rows.length === 0
  )
  statements.clear()
  await until("looks of an idle service", looks, (count) => count >= looksAtRest)
  // Leases are renewed and catalogs read again every few seconds.
  const often = [...statements].filter(([text, times]) => times > looksAtRest / 10 && !text.startsWith("SELECT ARRAY["))
  expect(often).toEqual([])
})
