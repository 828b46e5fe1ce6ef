/**
 * T05 wallet.overspend.race over two real processes: 50 races per queue backend. In each of them 200 clients ask at once for a run of
 * $1.008, and the wallet pays for exactly ten.
 */
import { afterEach, describe, expect, test } from "bun:test"
import { encodeCredit } from "../../src/actors/mailbox/Commands.ts"
import { digest } from "../../src/layers/accounts/Secrets.ts"
import { dollars } from "../../src/schema/money/Money.ts"
import { until } from "./processes.ts"
import { backends, percentile, report, World } from "./world.ts"

const races = 50
const clients = 200
const grantsExpected = 10
const balance = 10_500_000
const price = 1_008_000
/** Three persons at $0.336: the hold equals the charge, so no finished run gives money back to a later one. */
const body = JSON.stringify({
  capability: "people.search",
  input: { titles: ["buyer"], limit: 3 },
  routing: { provider: "peopledatalabs" },
  wait_seconds: 30
})

let world: World | undefined
afterEach(async () => {
  await world?.close()
  world = undefined
})

/** A new organization with one key and $10.50. */
const openAccount = async (here: World, race: number) => {
  const org_id = `org_race${race}`
  const token = `rg_test_${crypto.randomUUID().replaceAll("-", "")}`
  const lane = race % 2
  await here.query("INSERT INTO orgs (org_id, name) VALUES ($1, 'Race')", [org_id])
  await here.query("INSERT INTO wallets (org_id, lane) VALUES ($1, $2)", [org_id, lane])
  await here.query(
    "INSERT INTO api_keys (key_id, org_id, name, environment, key_hash, display) VALUES ($1, $2, 'race', 'test', $3, 'x')",
    [`key_race${race}`, org_id, digest(token)]
  )
  const reference = `cs_race${race}`
  const payload = encodeCredit({ type: "bonus", amount: dollars("10.50"), reference, note: "race" })
  await here.query("INSERT INTO mailbox (lane, command_id, org_id, tag, payload) VALUES ($1, $2, $3, 'Credit', $4)", [
    lane,
    reference,
    org_id,
    payload
  ])
  return { org_id, token }
}

describe.each(backends)("T05 wallet.overspend.race on %s", (backend) => {
  test(`${races} races of ${clients} clients over two processes`, async () => {
    world = await World.open({ backend, settings: { RUNGATE_MODE: "sandbox" } })
    const here = world
    const services = [await here.start("all"), await here.start("all")]
    const accounts = await Promise.all(Array.from({ length: races }, (_, race) => openAccount(here, race)))
    await until("credit for every organization", 20_000, async () => {
      const [row] = await here.query<{ poor: number }>(
        "SELECT count(*) AS poor FROM wallets WHERE org_id LIKE 'org_race%' AND balance = 0"
      )
      return row?.poor === 0
    })
    const violations: Array<string> = []
    const millis: Array<number> = []
    const found = { grants: 0, refusals: 0, overshoot: 0 }
    for (const { org_id, token } of accounts) {
      const began = performance.now()
      const statuses = await Promise.all(
        Array.from({ length: clients }, async (_, client) => {
          const answer = await fetch(`${services[client % 2]?.url}/v1/run`, {
            method: "POST",
            headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
            body
          })
          await answer.arrayBuffer()
          return answer.status
        })
      )
      millis.push(performance.now() - began)
      const granted = statuses.filter((status) => status === 200).length
      const refused = statuses.filter((status) => status === 402).length
      found.grants += granted
      found.refusals += refused
      found.overshoot = Math.max(found.overshoot, granted * price - balance)
      if (granted !== grantsExpected || refused !== clients - grantsExpected)
        violations.push(`${org_id}: ${granted} granted, ${refused} refused of ${clients}`)
      const [wallet] = await here.query<{ balance: number; reserved: number }>(
        "SELECT balance, reserved FROM wallets WHERE org_id = $1",
        [org_id]
      )
      if (wallet?.balance !== balance - grantsExpected * price || wallet.reserved !== 0)
        violations.push(`${org_id}: balance ${wallet?.balance}, reserved ${wallet?.reserved}`)
    }
    violations.push(...(await here.audit()))
    report({
      test: "T05",
      backend,
      races,
      grants: found.grants,
      refusals: found.refusals,
      overshoot_usd: Math.max(0, found.overshoot) / 1_000_000,
      violations,
      race_p50_ms: percentile(millis, 0.5),
      race_p99_ms: percentile(millis, 0.99)
    })
    expect(violations).toEqual([])
  })
})
