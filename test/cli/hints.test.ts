/** Every command that the API prints works when it is pasted: the hints of discover and inspect, and the `cli` of raw endpoints. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { type App, startApp, type Tenant } from "../app.ts"
import { type Home, newHome } from "./shell.ts"

let app: App
let org: Tenant
let home: Home
beforeAll(async () => {
  app = await startApp()
  org = await app.tenant("500.00")
  home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
})
afterAll(async () => {
  await app.stop()
  home.remove()
})

/** Commands at a time: as many as the machine has cores, and one to start meanwhile. */
const lanes = 3

/** Pastes them all, and answers what went wrong. */
const paste = async (commands: ReadonlyArray<string>) => {
  const waiting = [...commands]
  const wrong: Array<readonly [string, number, string]> = []
  const lane = async () => {
    for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) {
      const { code, err } = await home.shell(line)
      if (code !== 0 || err !== "") wrong.push([line, code, err])
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return wrong
}

const commandsIn = (hints: ReadonlyArray<string>) => hints.flatMap((hint) => /rungate .+/.exec(hint)?.[0] ?? [])

test("inspect's, for every capability: it runs", async () => {
  const { body } = await org.get("/v1/catalog/capabilities?limit=200")
  const inspected = await Promise.all(
    body.items.map((one: { capability: string }) => org.post("/v1/inspect", { capability: one.capability }))
  )
  const commands = inspected.flatMap(({ body: found }) => commandsIn(found.hints))
  expect(commands.length).toBe(body.items.length)
  expect(await paste(commands)).toEqual([])
}, 60_000)

test("discover's, for capabilities and endpoints: it inspects", async () => {
  const queries = ["find a work email", "filings of a company", "backlinks", "instagram posts by hashtag"]
  const answers = await Promise.all(queries.map((query) => org.post("/v1/discover", { query, limit: 4 })))
  const commands = answers.flatMap(({ body }) => commandsIn([...body.items.map((one: { hint: string }) => one.hint)]))
  expect(commands.length).toBe(queries.length * 4)
  expect(await paste([...new Set(commands)])).toEqual([])
}, 60_000)

test("an endpoint's, for each provider and whatever a shell would misread: it calls", async () => {
  const { body } = await org.get("/v1/catalog/providers?limit=200")
  const commands: Array<string> = []
  for (const { provider, endpoints } of body.items) {
    if (endpoints.status !== "live") continue
    const { items } = (await org.get(`/v1/catalog/providers/${provider}/endpoints?limit=200`)).body
    const found: ReadonlyArray<string> = await Promise.all(
      items.map(async ({ endpoint, method }: { endpoint: string; method: string }) => {
        const inspected = await org.post("/v1/inspect", { provider, endpoint, method })
        return inspected.body.run.cli
      })
    )
    const misread = found.filter((line) => line.includes("'\\''") || line.includes("--path"))
    commands.push(...(misread.length === 0 ? found : misread).slice(0, 1))
  }
  expect(commands.length).toBeGreaterThan(10)
  expect(await paste([...new Set(commands)])).toEqual([])
}, 60_000)
