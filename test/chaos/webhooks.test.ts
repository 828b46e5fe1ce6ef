/**
 * Webhooks while a process that makes and sends deliveries dies by SIGKILL at each step: before the commit of new deliveries, after it
 * claimed some, and between a receiver's answer and its record.
 *
 * The receiver gets every event of the streams at least once, always with the same id and body, and no delivery stays claimed.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { webhookSecret } from "../../src/schema/webhooks/Signature.ts"
import { listen, type Reader } from "../kit/event-stream.ts"
import { type Receiver, receiver, verified } from "../kit/webhook-receiver.ts"
import { askUntilDeath, clients } from "./dying.ts"
import { type Service, until } from "./processes.ts"
import { backends, leaseSeconds, report, World } from "./world.ts"

const points = ["webhooks.before_commit:3", "webhooks.claimed:3", "webhooks.answered:5"]
const kinds = ["run.created", "run.finished", "wallet.changed"]
const claimSeconds = 60

describe.each(backends)("webhooks under kill -9 on %s", (backend) => {
  const secret = webhookSecret(crypto.getRandomValues(new Uint8Array(32)))
  let world: World
  let survivor: Service
  let hooks: Receiver
  let streams: ReadonlyArray<Reader>
  beforeAll(async () => {
    hooks = receiver()
    world = await World.open({ backend, settings: { RUNGATE_WEBHOOK_ALLOW_PRIVATE: "1" } })
    survivor = await world.start("all", { RUNGATE_CONCURRENCY: "2", RUNGATE_ORG_CONCURRENCY: "2" })
    await world.openAccounts()
    const path = `/v1/events?types=${kinds.join(",")}`
    streams = await Promise.all(world.customers.map(({ token }) => listen(survivor.url, token, path)))
    for (const { org_id, lane } of world.customers)
      await world.query(
        `INSERT INTO webhook_endpoints (endpoint_id, org_id, url, events, secret, position)
         SELECT $2, org_id, $3, $4, $5, position FROM event_heads WHERE org_id = $1`,
        [org_id, `whe_chaos${lane}`, hooks.url, kinds, secret]
      )
  })
  afterAll(async () => {
    for (const stream of streams ?? []) stream.close()
    await world?.close()
    await hooks?.stop()
  })

  const count = async (condition: string) => {
    const [row] = await world.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM webhook_deliveries WHERE status = 'pending' AND ${condition}`
    )
    return row?.count ?? 0
  }

  test.each(points)(
    "%s",
    async (point) => {
      const before = streams.map(({ events }) => events.length)
      const doomed = await world.start("all", { RUNGATE_CRASH_AT: point })
      let asked = 0
      await askUntilDeath(doomed, point, clients, () => {
        asked += 1
        return world.submit(doomed, asked % 3 === 0 ? world.find("Miss") : world.find("Hit"), 2)
      })

      await until("no open run", leaseSeconds * 1_000 + 15_000, async () => {
        const [row] = await world.query<{ open: number }>(
          "SELECT (SELECT count(*) FROM open_runs)::int + (SELECT count(*) FROM mailbox)::int AS open"
        )
        return row?.open === 0
      })
      const ended = await world.query<{ run_id: string }>("SELECT run_id FROM runs")
      await until("the end of every run in the streams", 20_000, () => {
        const finished = streams.flatMap(({ events }) => events.filter(({ type }) => type === "run.finished"))
        const seen = new Set(finished.map(({ data }) => data.run_id))
        return ended.every(({ run_id }) => seen.has(run_id))
      })
      await until("deliveries of every event", 20_000, async () => {
        const [row] = await world.query<{ behind: number }>(
          "SELECT count(*)::int AS behind FROM webhook_endpoints e JOIN event_heads h USING (org_id) WHERE h.position > e.position"
        )
        return row?.behind === 0
      })
      await until(
        "claims of the dead process only",
        20_000,
        async () => (await count("next_attempt_at <= now()")) === 0
      )
      const claimed = await count("true")
      expect(await count(`next_attempt_at > now() + interval '${claimSeconds} seconds'`)).toBe(0)
      // The time of the claims passes at once.
      await world.query("UPDATE webhook_deliveries SET next_attempt_at = now() WHERE status = 'pending'")
      await until("no pending delivery", 20_000, async () => (await count("true")) === 0)

      const events = streams.flatMap((stream, index) => stream.events.slice(before[index]))
      const got = Map.groupBy(hooks.got, ({ id }) => id)
      expect(events.length).toBeGreaterThan(0)
      expect(events.filter(({ id }) => !got.has(id)).map(({ id, type }) => `${id} ${type} was not delivered`)).toEqual(
        []
      )
      for (const { id, ...event } of events)
        for (const one of got.get(id) ?? []) expect(verified(one, secret)).toEqual(event)
      const repeated = events.filter(({ id }) => (got.get(id)?.length ?? 0) > 1).length
      const failed = await world.query("SELECT 1 FROM webhook_deliveries WHERE status = 'failed'")
      expect(failed).toEqual([])
      report({
        test: "webhooks.kill9",
        backend,
        point,
        events: events.length,
        claimed_at_death: claimed,
        repeated
      })
    },
    180_000
  )
})
