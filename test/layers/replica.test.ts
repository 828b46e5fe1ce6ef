/** Who answers a read when a standby is up to date, behind, away, slow, or none of ours. A real standby: test/chaos/read-standby.test.ts. */
import { describe, expect, test } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Looks, preferring, Replica, wrongStandby } from "../../src/layers/standby/Replica.ts"
import { preparedDatabase } from "../kit/postgres.ts"
import { standbySuite } from "../kit/standby-suite.ts"

const bound = { lsn: "0/2000000", timeline: 1, system: "7", database: "16384" }
const good = { standby: true, applied: true, timeline: 1, system: "7", database: "16384" }

/** A standby that has everything at once, as long as it is told so: its client is the primary's. */
const madeUp = (state: { by: "fresh" | "behind" | "away" }) =>
  Layer.effect(
    Replica,
    Effect.gen(function* () {
      const looks: Looks = {
        bound: Effect.succeed(bound),
        standby: () => (state.by === "away" ? Effect.never : Effect.succeed({ ...good, applied: state.by === "fresh" }))
      }
      const client = Context.make(SqlClient.SqlClient, yield* SqlClient.SqlClient)
      return { standby: { client, place: "made up", ...preferring(looks, 20) } }
    })
  )

standbySuite("a standby that is made up", async () => {
  const state: Parameters<typeof madeUp>[0] = { by: "fresh" }
  const become = (by: typeof state.by) => async () => {
    state.by = by
  }
  return {
    settings: { DATABASE_URL: await preparedDatabase() },
    replica: madeUp(state),
    ...{ lag: become("behind"), follow: become("fresh"), leave: become("away"), comeBack: become("fresh") }
  }
})

const asked = (looks: Partial<Looks>, onStandby: Effect.Effect<string, string> = Effect.succeed("standby")) =>
  preferring({ bound: Effect.succeed(bound), standby: () => Effect.succeed(good), ...looks }).prefer(
    onStandby,
    Effect.succeed("primary")
  )
const answer = (read: Effect.Effect<string, string>) => Effect.runPromise(read)

describe("a read", () => {
  test("goes to a standby that has applied the primary's log", async () => {
    expect(await answer(asked({}))).toBe("standby")
  })

  test.each([
    ["another system", { system: "8" }],
    ["another database", { database: "5" }],
    ["a promoted standby", { standby: false }],
    ["another timeline", { timeline: 2 }],
    ["one that is behind", { applied: false }]
  ])("does not go to %s", async (_, changed) => {
    expect(await answer(asked({ standby: () => Effect.succeed({ ...good, ...changed }) }))).toBe("primary")
  })

  test("waits a moment for a standby that is about to have everything", async () => {
    let looks = 0
    const standby = () => Effect.sync(() => ({ ...good, applied: ++looks > 2 }))
    expect(await answer(asked({ standby }))).toBe("standby")
    expect(looks).toBe(3)
  })

  test("that fails or dies on the standby, or whose standby can't be looked at, is the primary's", async () => {
    expect(await answer(asked({}, Effect.fail("conflict with recovery")))).toBe("primary")
    expect(await answer(asked({}, Effect.die(new Error("connection lost"))))).toBe("primary")
    expect(await answer(asked({ standby: () => Effect.die(new Error("refused")) }))).toBe("primary")
    expect(await answer(asked({ bound: Effect.die(new Error("in recovery")) }))).toBe("primary")
  })
})

test("a server that is no standby of the primary is named", () => {
  expect(wrongStandby(bound, good)).toBeNull()
  expect(wrongStandby(bound, { ...good, standby: false })).toContain("accepts writes")
  expect(wrongStandby(bound, { ...good, system: "8" })).toContain("another database server")
  expect(wrongStandby(bound, { ...good, database: "5" })).toContain("another database of that server")
})
