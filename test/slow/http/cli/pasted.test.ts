/** The commands that the API prints work when pasted into a shell: found, inspected, run, called. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Tenant, withApp } from "../../../kit/app.ts"
import { acme } from "../../../kit/provider-documents.ts"
import { preparedDatabase } from "../../../kit/postgres.ts"
import { type Environment, type Home, newHome } from "../../../http/cli/shell.ts"
import { firstRun } from "../../../../src/schema/Steps.ts"
import { dueToday } from "../../../kit/input-samples.ts"

let org: Tenant
let home: Home
/** The source itself, as `npm link` and `npm start` run it. */
let linked: Home
const app = withApp()
beforeAll(async () => {
  await app.catalog(acme)
  org = await app.tenant("25.00")
  const environment = { RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key }
  home = newHome(environment)
  linked = newHome(environment, "source")
})
afterAll(async () => {
  home.remove()
  linked.remove()
})
const shell = (line: string, environment?: Environment) => home.shell(line, environment)

describe("a printed command, pasted", () => {
  test("finds, inspects and runs", async () => {
    const found = await linked.shell("rungate discover find a work email --limit 3")
    expect([found.code, found.body.items[0].capability]).toEqual([0, "email.find"])
    const inspected = await shell(found.body.items[0].hint)
    expect([inspected.code, inspected.body.capability]).toEqual([0, "email.find"])
    const hint: string = inspected.body.hints.find((one: string) => one.includes("rungate run"))
    const ran = await shell(hint.replace(/^Or: /, ""))
    expect([ran.code, ran.body.status]).toEqual([0, "succeeded"])
  })

  test.each([
    ["acme", "/people/{id}", "GET"],
    ["acme", "/search", "POST"],
    ["acme", "/tasks", "POST"],
    ["apify", "harvestapi/linkedin-job-search", "POST"],
    ["dataforseo", "/v3/backlinks/referring_domains/live", "POST"],
    ["sec_edgar", "/submissions/CIK{cik}.json", "GET"]
  ])("calls %s %s", async (provider, endpoint, method) => {
    const { body } = await org.post("/v1/inspect", { provider, endpoint, method })
    const ran = await shell(body.run.cli)
    expect([ran.code, ran.err, ran.body?.status]).toEqual([0, "", "succeeded"])
    expect(ran.body.result.raw).toBe(true)
  })
})

describe("the input as name=value", () => {
  test("runs what the console and the help print", async () => {
    const ran = await shell(firstRun)
    expect([ran.code, ran.err, ran.body?.status]).toEqual([0, "", "succeeded"])
    const quoted = await shell(firstRun.replace(" run ", " quote "))
    expect([quoted.code, quoted.err]).toEqual([0, ""])
  })

  test("takes JSON as it is written, flags between members, and any text", async () => {
    const ran = await shell(
      `rungate run seo.keywords seed="a=b, c" --max-cost 0.05 limit:=3 country=us --dry-run --json`
    )
    expect([ran.code, ran.err]).toEqual([0, ""])
    const posted = await shell(
      `rungate api POST /v1/quote capability=email.verify input:='{"email":"ada@example.com"}'`
    )
    expect([posted.code, posted.err]).toEqual([0, ""])
  })
})

describe("a command that can't", () => {
  test.each([
    ["rungate run email.verify email=a@example.com email=b@example.com", 5, "has email twice"],
    ["rungate run seo.keywords seed=a limit:=many", 5, "The value of limit is not JSON"],
    ["rungate run email.verify email=a@example.com ada", 5, 'Unexpected "ada": give the input as name=value'],
    ["rungate run email.verify - email=a@example.com", 5, "Give the input only once"],
    [`rungate run email.verify -i '{}' email=a@example.com`, 5, "Give the input only once"],
    ["rungate inspect nothing.here", 250, "nothing.here"],
    ["rungate inspect acme /nowhere", 250, "/nowhere"],
    [`rungate run email.find -i '{}'`, 5, "input"],
    [`rungate run email.find -i 'not json'`, 5, ""],
    ["rungate inspect", 5, "target"],
    [`rungate run email.verify -i '{"email":"error@sandbox.test"}'`, 1, "Nothing was charged"],
    [
      `rungate run email.find -i '{"full_name":"A B","company_domain":"no-match.sandbox.test"}'`,
      3,
      "No provider found"
    ],
    [`rungate run email.verify -i '{"email":"timeout@sandbox.test"}' --provider hunter`, 7, "timed out"],
    [`rungate run email.verify -i '{"email":"slow_20@sandbox.test"}' --wait 0`, 8, "still executing"]
  ])("%s", async (line, code, words) => {
    const { code: exit, err } = await shell(line)
    expect([exit, err]).toEqual([code, expect.stringContaining(words)])
  })

  test("says what is missing: the key, the money, the service", async () => {
    const keyless = await shell("rungate inspect email.find", { RUNGATE_API_KEY: "" })
    expect([keyless.code, keyless.err]).toEqual([4, expect.stringContaining("RUNGATE_API_KEY")])
    const poor = await app.tenant()
    const unpaid = await shell(`rungate run email.verify -i '{"email":"a@example.com"}'`, { RUNGATE_API_KEY: poor.key })
    expect([unpaid.code, unpaid.err]).toEqual([6, expect.stringContaining("top up")])
    const nobody = await shell("rungate discover x", { RUNGATE_URL: "http://127.0.0.1:1" })
    expect([nobody.code, nobody.err]).toEqual([1, expect.stringContaining("RUNGATE_URL")])
  })
})

test.if(dueToday(1))(
  "catalog import prints the difference, changes nothing on --dry-run, and is seen when it is done",
  async () => {
    const file = join(linked.folder, "beta.json")
    const operation = (summary: string) => ({ get: { summary, responses: { 200: { description: "ok" } } } })
    const put = (paths: Record<string, unknown>) =>
      writeFileSync(
        file,
        JSON.stringify({
          openapi: "3.0.0",
          info: { title: "Beta", version: "1" },
          servers: [{ url: "https://api.beta.example" }],
          paths
        })
      )
    const settings = { DATABASE_URL: await preparedDatabase(), REDIS_URL: "" }
    put({ "/one": operation("One"), "/two": operation("Two") })
    const dry = await linked.shell(`rungate catalog import ${file} --provider beta --dry-run`, settings)
    expect([dry.code, dry.out]).toEqual([
      0,
      expect.stringContaining("beta: 2 endpoints; 2 added, 0 changed, 0 removed")
    ])
    const first = await linked.shell(`rungate catalog import ${file} --provider beta`, settings)
    expect([first.code, first.out]).toEqual([0, expect.stringContaining("+ GET /one")])
    put({ "/one": operation("One, new"), "/three": operation("Three") })
    const second = await linked.shell(`rungate catalog import ${file} --provider beta`, settings)
    expect(second.out.trim().split("\n")).toEqual([
      "+ GET /three",
      "~ GET /one",
      "- GET /two",
      "beta: 2 endpoints; 1 added, 1 changed, 1 removed, 0 unchanged, 0 warnings."
    ])
    const [again, nameless, excluded] = await Promise.all([
      linked.shell(`rungate catalog import ${file} --provider beta`, settings),
      linked.shell(`rungate catalog import ${file}`, settings),
      linked.shell(`rungate catalog import ${file} --provider fal`, settings)
    ])
    expect(again.err).toContain("Nothing was changed")
    expect([nameless.code, nameless.err]).toEqual([1, expect.stringContaining("--provider")])
    expect([excluded.code, excluded.err]).toEqual([1, expect.stringContaining("never exposed raw")])
  },
  60_000
)
