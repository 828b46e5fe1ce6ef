/**
 * The number of lanes grows under load: processes that started with two lanes work beside one that starts with six. Every client is
 * answered, every run is paid once, and all processes use the new lanes afterwards.
 */
import { afterEach, describe, expect, test } from "bun:test"
import { walletLane } from "../../../src/layers/accounts/WalletLanes.ts"
import { type App, oneBackend, type Reply, startApp, type Tenant, until, verify } from "../../kit/app.ts"

const lanes = 6
const clients = 8

let apps: Array<App> = []
afterEach(async () => {
  for (const app of apps.toReversed()) await app.stop()
  apps = []
})

describe.each(oneBackend)("growing to six lanes, queues on %s", (backend) => {
  test("loses and doubles nothing, and every process follows", async () => {
    const first = await startApp({ backend })
    apps = [first, await startApp({ beside: first, role: "http" })]
    const tenants = await Promise.all(Array.from({ length: clients }, () => first.tenant("10.00")))
    const answers: Array<Reply> = []
    let over = false
    // Each client sends its runs over one process after the other, so a wallet's commands come from all of them.
    const client = async (tenant: Tenant, number: number) => {
      for (let turn = number; !over; turn++)
        answers.push(await tenant.over(apps[turn % apps.length] ?? first).run(verify(`p${turn}`)))
    }
    const load = Promise.all(tenants.map(client))
    const more = async (what: string, count: number) => {
      const before = answers.length
      await until(
        what,
        () => answers.length - before,
        (added) => added > count
      )
    }
    await more("runs on two lanes", 20)
    apps = [...apps, await startApp({ beside: first, settings: { RUNGATE_LANES: `${lanes}` } })]
    await until(
      "all wallets moved",
      () => first.sql("SELECT lanes, spread FROM lane_count"),
      ([row]) => row?.["lanes"] === lanes && row?.["spread"] === lanes
    )
    await more("runs on six lanes", 40)
    over = true
    await load
    expect(answers.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([])
    const wallets = await first.sql("SELECT org_id, lane::int AS lane, open_runs::int AS open FROM wallets")
    for (const { org_id, lane, open } of wallets)
      expect({ org_id, lane, open }).toEqual({ org_id, lane: walletLane(String(org_id), lanes), open: 0 })
    const [runs] = await first.sql("SELECT count(*)::int AS runs, count(DISTINCT run_id)::int AS ids FROM runs")
    expect(runs).toEqual({ runs: answers.length, ids: answers.length })
    expect(await first.sql("SELECT org_id, tag FROM mailbox")).toEqual([])
    await first.books()
    // A process that started with two lanes takes the turns of the others alone.
    await apps.pop()?.stop()
    for (const tenant of tenants) expect((await tenant.over(apps[1] ?? first).run(verify("last"))).status).toBe(200)
    await first.books()
  })

  test("a process with a smaller number is refused, and one without a number takes the stored one", async () => {
    const first = await startApp({ backend, settings: { RUNGATE_LANES: "4" } })
    apps = [first]
    const told = await startApp({ beside: first, settings: { RUNGATE_LANES: "3" } }).catch(
      (error: Error) => error.message
    )
    expect(told).toMatch(
      /^RUNGATE_LANES is 3, but the database at 127\.0\.0\.1:\d+\/rungate_test_\w+ has 4 lanes, and their number can't shrink\. Set RUNGATE_LANES to 4 or more, or leave it unset\.$/
    )
    apps = [first, await startApp({ beside: first, settings: { RUNGATE_LANES: "" } })]
    expect(await first.sql("SELECT lanes::int AS lanes FROM lane_count")).toEqual([{ lanes: 4 }])
  })
})
