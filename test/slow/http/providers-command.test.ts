/** `rungate providers` and GET /v1/catalog/providers: what is configured, what was checked, and what an account would add. */
import { beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { withApp } from "../../kit/app.ts"
import { compiledCommand } from "../../kit/compiled-command.ts"
import { type Command, runMain } from "../../chaos/processes.ts"
import { unknownSettings } from "../../../src/layers/platform/unknownSettings.ts"

const production = { RUNGATE_MODE: "production" }
const accounts = { RUNGATE_PROVIDER_HUNTER_API_KEY: "key-of-hunter" }
const app = withApp({ settings: { ...production, ...accounts } })
beforeAll(async () => {
  await app.sql(`INSERT INTO provider_checks (provider, capability, run_id, passed, outcome, latency_ms, charged, cost)
    VALUES ('hunter', 'email.find', 'run_1', true, 'succeeded', 120, 29400, null)`)
})

/** `sources` reads files of the package, which the compiled file has not. */
const providers = async (env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) => {
  const by: ReadonlyArray<Command> = args[0] === "sources" ? [] : [[await compiledCommand()]]
  const { errors, output, ended } = runMain(["providers", ...args], { DATABASE_URL: app.databaseUrl, ...env }, ...by)
  const { code } = await ended
  return { code, out: output(), err: errors() }
}

describe("rungate providers", () => {
  test("says which capabilities can run, and what each missing account would add", async () => {
    const env = {
      ...production,
      ...accounts,
      RUNGATE_PROVIDER_FOO_KEY: "secret-of-foo",
      RUNGATE_PROVIDER_EXA_CREDIT_USD: "1"
    }
    const [{ code, out, err }, asJson] = await Promise.all([providers(env), providers(env, "--json")])
    expect([code, asJson.code]).toEqual([0, 0])
    expect(out).toMatch(/^hunter +1 of 5 passed, \d{4}-\d\d-\d\d +unknown +0 +email\.find, email\.verify/m)
    expect(out).toMatch(
      /^leadmagic +RUNGATE_PROVIDER_LEADMAGIC_API_KEY +phone\.find, jobs\.search, ads\.search, network\.profile$/m
    )
    expect(out).toMatch(/^7 of 35 capabilities can run\.$/m)
    expect(out).toMatch(/^phone\.find needs one of leadmagic, prospeo, /m)
    expect(out).toMatch(/^phone\.lookup needs twilio_lookup$/m)
    expect(err).toContain("RUNGATE_PROVIDER_FOO_KEY names no provider of this service and is ignored.")
    expect(err).toContain("RUNGATE_PROVIDER_EXA_CREDIT_USD has no effect: exa bills in USD")
    expect(`${out}${err}`).not.toMatch(/key-of-hunter|secret-of-foo/)
    const body = JSON.parse(asJson.out)
    expect(body.can_run).toBe(7)
    expect(body.capabilities.find((one: { capability: string }) => one.capability === "email.find")).toMatchObject({
      can_run: true,
      providers: ["hunter"],
      needs: expect.arrayContaining(["leadmagic"])
    })
    const find = (slug: string) => body.providers.find((one: { provider: string }) => one.provider === slug)
    expect(find("hunter")).toMatchObject({
      configured: true,
      adds: [],
      unchecked: expect.arrayContaining(["email.verify"])
    })
    expect(find("sec_edgar")).toMatchObject({ configured: false, adds: ["gov.filings"] })
    expect(find("usaspending")).toMatchObject({ configured: true })
    expect(body.warnings).toHaveLength(2)
  })
})

test("GET /v1/catalog/providers says the same to customers", async () => {
  const { body } = await app.call(null, "GET", "/v1/catalog/providers/hunter")
  expect(body).toMatchObject({ configured: true, adds: [], health: { status: "unknown" } })
  const other = await app.call(null, "GET", "/v1/catalog/providers/leadmagic")
  expect(other.body).toMatchObject({ configured: false, checked_at: null })
  expect(other.body.adds).toContain("phone.find")
  const edgar = await app.call(null, "GET", "/v1/catalog/providers/sec_edgar")
  expect(edgar.body).toMatchObject({ configured: false, endpoints: { status: "ready" } })
})

test("SEC EDGAR without a contact address runs nothing", async () => {
  const org = await app.tenant("1.00")
  const { body } = await org.run({ capability: "gov.filings", input: { cik: "320193" } })
  expect(body.error.code).toBe("provider_not_available")
})

describe("variables without effect", () => {
  const parties = [
    { slug: "hunter", hasCredits: true, sendsEvents: false },
    { slug: "postmark", hasCredits: true, sendsEvents: true },
    { slug: "exa", hasCredits: false, sendsEvents: false }
  ]
  const of = (...given: ReadonlyArray<string>) => unknownSettings({ given, existing: ["RUNGATE_MODE"] }, parties)
  test("are told, each with what to do", () => {
    expect(of("RUNGATE_MODE", "RUNGATE_PROVIDER_HUNTER_API_KEY", "RUNGATE_PROVIDER_HUNTER_CREDIT_USD")).toEqual([])
    expect(of("RUNGATE_PROVIDER_HUNTER_KEY")[0]).toContain(
      "The settings of hunter are RUNGATE_PROVIDER_HUNTER_API_KEY, RUNGATE_PROVIDER_HUNTER_BASE_URL, RUNGATE_PROVIDER_HUNTER_CREDIT_USD."
    )
    const secret = "RUNGATE_PROVIDER_POSTMARK_WEBHOOK_SECRET"
    expect(of(secret, `${secret}_FILE`, "RUNGATE_PROVIDER_HUNTER_API_KEY_FILE")).toEqual([])
    expect(of("RUNGATE_PROVIDER_HUNTER_WEBHOOK_SECRET")[0]).toBe(
      "RUNGATE_PROVIDER_HUNTER_WEBHOOK_SECRET has no effect: the service takes no events of hunter."
    )
    expect(of("RUNGATE_PROVIDER_HUNTR_API_KEY")[0]).toContain("Did you mean RUNGATE_PROVIDER_HUNTER_API_KEY?")
    expect(of("RUNGATE_MOD")[0]).toBe("RUNGATE_MOD is not a setting and is ignored. Did you mean RUNGATE_MODE?")
  })

  test("says where the raw endpoints come from, and under which licence", async () => {
    const [{ code, out }, asJson] = await Promise.all([providers({}, "sources"), providers({}, "sources", "--json")])
    expect(code).toBe(0)
    expect(out).toMatch(/^provider +licence +read +taken +endpoints +source$/m)
    expect(out).toMatch(/^hunter +unstated +\d{4}-\d\d-\d\d +names, types, ranges +all +https:\/\/github\.com\//m)
    expect(out).toMatch(/^peopledatalabs +MIT +\d{4}-\d\d-\d\d +texts too +all +https:/m)
    const { items } = JSON.parse(asJson.out)
    expect(items).toContainEqual(expect.objectContaining({ provider: "apify", licence: "Apache-2.0", takes: "texts" }))
  })
})

test("a wrong day of a bill is named by its flag, and a wrong day or amount of its file by row and column", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "rungate-bill-")), "bill.csv")
  writeFileSync(file, "date,amount\n2026-11-02,1\n")
  const match = async (from: string, to: string, ...more: ReadonlyArray<string>) => {
    const args = ["admin", "bills", "match", "--provider", "hunter", "-f", file, "--from", from, "--to", to, ...more]
    const command: Command = [await compiledCommand()]
    const { errors, ended } = runMain(args, { DATABASE_URL: app.databaseUrl, ...production }, command)
    const { code } = await ended
    return [code, errors()]
  }
  expect(await match("1999-11-01", "2026-11-30")).toEqual([5, expect.stringContaining("rungate: --from must be a day")])
  expect(await match("2026-11-01", "1999-11-30")).toEqual([5, expect.stringContaining("rungate: --to must be a day")])
  writeFileSync(file, 'date,amount\n2026-11-02,"1,234.50"\n2026-11-03,"12,50"\n')
  expect(await match("2026-11-01", "2026-11-30")).toEqual([
    5,
    expect.stringContaining('has "12,50" for an amount, in row 2, column "amount"')
  ])
  for (const day of ["yesterday", "2026-02-31", "2026-10-31", "2026-12-01"]) {
    writeFileSync(file, `Billed On,amount\n2026-11-30,1\n${day},1\n`)
    expect(await match("2026-11-01", "2026-11-30", "--date-column", "billed on")).toEqual([
      5,
      expect.stringContaining(`has "${day}" for a day from 2026-11-01 to 2026-11-30, in row 2, column "Billed On"`)
    ])
  }
})
