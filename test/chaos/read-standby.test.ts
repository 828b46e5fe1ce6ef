/** A real streaming standby: stopped, paused and back again. Clients find their own writes, and a wrong server is refused at start. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Replica } from "../../src/layers/standby/Replica.ts"
import { type App, startApp, until, verify } from "../kit/app.ts"
import { standbySuite } from "../kit/standby-suite.ts"
import { breakablePostgres, type Server, stops } from "./servers.ts"
import { sqlAt } from "./system-postgres.ts"
import { type Standby, standbyOf } from "./read-standby.ts"

let primary: Server
let standby: Standby
let databases = 0
/** A new database, on both servers. */
const newDatabase = async () => {
  databases += 1
  await sqlAt(primary.url, `CREATE DATABASE standby_${databases}`)
  const [write, read] = [new URL(primary.url), new URL(standby.url)]
  write.pathname = `/standby_${databases}`
  read.pathname = `/standby_${databases}`
  return { DATABASE_URL: write.toString(), DATABASE_READ_URL: read.toString() }
}

beforeAll(async () => {
  primary = await breakablePostgres()
  standby = await standbyOf(primary)
})
afterAll(async () => {
  await standby.stop()
  await primary.end(stops.immediate)
})

const lag = () => standby.query("SELECT pg_wal_replay_pause()")
const follow = () => standby.query("SELECT pg_wal_replay_resume()")

standbySuite("a real standby", async () => ({
  settings: await newDatabase(),
  replica: Replica.layer,
  ...{ lag, follow, leave: standby.stop, comeBack: standby.start }
}))

const readsOf = async (app: App) => {
  const text = await app.metrics()
  const by = (who: string) => Number(new RegExp(`answered_by="${who}"} (\\d+)`).exec(text)?.[1])
  return { standby: by("standby"), primary: by("primary") }
}

describe("a service with a standby", () => {
  test("shows each run in lists, history and the ledger at once, whatever the standby does", async () => {
    const settings = await newDatabase()
    const app = await startApp({ settings })
    const org = await app.tenant("20.00")
    const problems: Array<string> = []
    let over = false
    let runs = 0
    const client = async (name: string) => {
      for (let turn = 0; !over; turn++) {
        const email = `${name}${turn}`
        const { status, body } = await org.run(verify(email))
        runs += 1
        if (status !== 200) problems.push(`run ${status}`)
        const [list, history, entries] = await Promise.all([
          org.list("?limit=100"),
          org.get(`/v1/history?q=${email}@example.com`),
          org.get("/v1/wallet/transactions?limit=200")
        ])
        const ids = (items: ReadonlyArray<Record<string, unknown>>, key: string) => items.map((one) => one[key])
        if (!ids(list.body.items, "run_id").includes(body.run_id)) problems.push(`${email} is not listed`)
        if (list.body.items.find((one: { run_id: string }) => one.run_id === body.run_id)?.status !== "succeeded")
          problems.push(`${email} is listed as if it had not ended`)
        if (!ids(history.body.items, "run_id").includes(body.run_id)) problems.push(`${email} is not in the history`)
        if (!ids(entries.body.items, "reference").includes(body.run_id)) problems.push(`${email} is not in the ledger`)
      }
    }
    const clients = Promise.all(["a", "b", "c"].map(client))
    const answers = (who: "standby" | "primary") => async () => {
      const before = (await readsOf(app))[who]
      await until(
        `the ${who} answers`,
        async () => (await readsOf(app))[who] - before,
        (more) => more > 15,
        60
      )
    }
    await answers("standby")()
    await lag()
    await answers("primary")()
    await follow()
    await answers("standby")()
    await standby.stop()
    await answers("primary")()
    await standby.start()
    await answers("standby")()
    over = true
    await clients
    expect(problems).toEqual([])
    expect(runs).toBeGreaterThan(10)
    await app.books()
    await app.stop()
  })

  test("refuses the primary itself, another database and another server, and starts without an answer", async () => {
    const settings = await newDatabase()
    const other = await newDatabase()
    const told = (url: string) =>
      startApp({ settings: { ...settings, DATABASE_READ_URL: url } }).then(
        async (app) => {
          const said = app.logs.join("\n")
          await app.stop()
          return said
        },
        (error: Error) => error.message
      )
    expect(await told(settings.DATABASE_URL)).toMatch(
      /^The server of DATABASE_READ_URL at 127\.0\.0\.1:\d+\/standby_\d+ accepts writes, so it is no standby\. Point DATABASE_READ_URL at a streaming standby of the database of DATABASE_URL, or leave it unset\.$/
    )
    expect(await told(other.DATABASE_READ_URL)).toContain("is another database of that server")
    const away = new URL(settings.DATABASE_READ_URL)
    away.port = "1"
    expect(await told(away.toString())).toContain("does not answer")
    const stranger = await breakablePostgres()
    expect(await told(stranger.url)).toContain("is a copy of another database server")
    await stranger.end(stops.immediate)
  })
})
