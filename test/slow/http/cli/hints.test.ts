/** Every command that the API prints works when it is pasted: hints, the `cli` of raw endpoints, and what errors say to do. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { cliHints } from "../../../../src/http/cli/answers/commands.ts"
import { historyLines } from "../../../../src/http/cli/history/history.ts"
import { type Tenant, withApp } from "../../../kit/app.ts"
import { sampled } from "../../../kit/input-samples.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

let org: Tenant
let home: Home
const app = withApp()
beforeAll(async () => {
  org = await app.tenant("500.00")
  home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
})
afterAll(async () => {
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
  expect(await paste(sampled(commands, 10))).toEqual([])
})

test("discover's, for capabilities and endpoints: it inspects", async () => {
  const queries = ["find a work email", "filings of a company", "backlinks", "instagram posts by hashtag"]
  const answers = await Promise.all(queries.map((query) => org.post("/v1/discover", { query, limit: 4 })))
  const commands = answers.flatMap(({ body }) => commandsIn([...body.items.map((one: { hint: string }) => one.hint)]))
  expect(commands.length).toBe(queries.length * 4)
  expect(await paste(sampled([...new Set(commands)], 6))).toEqual([])
})

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
  expect(await paste(sampled([...new Set(commands)], 8))).toEqual([])
})

/** Commands as they stand in sentences: in backticks, or after a colon at the end. */
const commandsSaid = (sentences: ReadonlyArray<string>) =>
  sentences.flatMap((one) => [
    ...Array.from(one.matchAll(/`(rungate [^`]+)`/g), ([, command = ""]) => command),
    ...(/: (rungate [^`]+)$/.exec(one)?.slice(1) ?? [])
  ])

test("what hints say to people: about what is known, about a query that is data, about a run", async () => {
  const email = "grace.hopper@example.com"
  const slow = "slow_30@sandbox.test"
  const { body: bought } = await org.run({ capability: "email.verify", input: { email } })
  await org.run({ capability: "email.verify", input: { email: slow }, wait_seconds: 0 })
  const address = "https://example.com/a?b='c'"
  const queries = [email, bought.run_id, "email.find", "verify an address", "+1 415 555 2671", address]
  const answers = await Promise.all(queries.map((query) => org.post("/v1/discover", { query, limit: 1 })))
  const views = await Promise.all([email, slow].map((query) => org.get(`/v1/history?q=${query}`)))
  const wide = { screen: { width: 1_000, paint: (_: string, text: string) => text }, now: Date.now() }
  const said = [
    ...answers.flatMap(({ body }) => cliHints(body)),
    ...views.flatMap(({ body }) => historyLines(body, wide))
  ]
  expect(said.join("\n")).not.toMatch(/(?<!rungate api )\b(GET|POST) \/v1/)
  const commands = commandsSaid(said)
  expect(commands).toEqual(
    expect.arrayContaining([
      `rungate runs get ${bought.run_id}`,
      "rungate runs list --status running",
      `rungate history ${email}`,
      "rungate history '+1 415 555 2671'",
      `rungate history '${address.replaceAll("'", "'\\''")}'`,
      "rungate inspect email.find"
    ])
  )
  expect(await paste([...new Set(commands)])).toEqual([])
})

test("what errors say to do", async () => {
  const [poor, guarded] = await Promise.all([app.tenant(), app.tenant("1.00")])
  await guarded.post("/v1/spend-guard", { per_run_limit: "0.0001" })
  const verify = `rungate run email.verify -i '{"email":"a@example.com"}'`
  const failing: ReadonlyArray<readonly [string, string?]> = [
    ["rungate inspect nothing.here"],
    ["rungate inspect nobody /x"],
    ["rungate inspect hunter /nowhere"],
    ["rungate discover x --provider nobody"],
    [`rungate run nothing.here -i '{}'`],
    [verify, poor.key],
    [verify, guarded.key]
  ]
  const said = await Promise.all(
    failing.map(([line, key]) => home.shell(line, key === undefined ? {} : { RUNGATE_API_KEY: key }))
  )
  const sentences = said.map(({ err }) => err.trim())
  expect(sentences.filter((one) => commandsSaid([one]).length === 0)).toEqual([])
  expect(sentences.join("\n")).not.toMatch(/(?<!rungate api )\b(GET|POST) \/v1|routing\./)
  // In JSON they stay as the API says them.
  expect(said.filter(({ body }) => body.error.message.includes("rungate "))).toEqual([])
  // Each command stands for a request that the message names.
  for (const { body } of said)
    for (const { http = "" } of body.error.details ?? []) expect(body.error.message).toContain(http)
  const commands = [...new Set(commandsSaid(sentences))]
  expect(commands).toEqual(expect.arrayContaining(["rungate wallet topup 25.00", "rungate spend-guard"]))
  // Without -q a top-up would say that no money moved.
  expect(await paste(commands.map((command) => `${command} -q`))).toEqual([])
})
