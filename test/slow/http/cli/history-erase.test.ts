/** `history erase`: says how many runs it is about, asks, erases them and nothing else, and tells what it could not erase yet. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Client } from "pg"
import { segmentsLock } from "../../../../src/layers/history/index/Locks.ts"
import { type App, startApp, type Tenant, until } from "../../../kit/app.ts"
import { heldProvider, rehearseHeld } from "../../../kit/held-provider.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

const held = heldProvider()
let app: App
let org: Tenant
let home: Home
/** Signed in to `org`, with a saved key of somebody else's organization. */
beforeAll(async () => {
  app = await startApp({ held })
  const [mine, other] = await Promise.all([app.tenant("20.00"), app.tenant("1.00")])
  org = mine
  home = newHome({ RUNGATE_URL: app.url })
  const folder = join(home.folder, "config", "rungate")
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const save = (name: string, profile: Record<string, string>) => {
    const profiles = { default: { url: app.url, ...profile } }
    writeFileSync(join(folder, name), JSON.stringify({ version: 1, profiles }), { mode: 0o600 })
  }
  const session_token = await org.session()
  save("sessions.json", { session_token, expires_at: "2099-01-01T00:00:00Z", email: "ada@example.com" })
  save("credentials.json", { api_key: other.key })
})
afterAll(async () => {
  home.remove()
  await app.books()
  await app.stop()
})

const verify = (email: string) => org.run({ capability: "email.verify", input: { email } })
const count = async (q: string) => (await org.get(`/v1/history?q=${encodeURIComponent(q)}`)).body.count
const person = "ada@erase.example"

test("a person is told how many runs it is about, may say no, sees how far it is, and is told what was done", async () => {
  const made = [await verify(person), await verify(person.toUpperCase()), await verify("bob@erase.example")]
  const ledger = await org.ledger()
  const line = `rungate history erase ${person}`
  const question = "Erase input and result of 2 runs that name ada@erase.example (email)?"

  const [byKey, unasked, unreadable] = await Promise.all([
    home.shell(`${line} --yes`, { RUNGATE_API_KEY: org.key, XDG_CONFIG_HOME: home.folder }),
    home.shell(line),
    home.shell(`rungate history erase ${person} --kind phone --yes`)
  ])
  expect([byKey.code, byKey.out, byKey.err]).toEqual([4, "", expect.stringContaining("rungate login")])
  expect([unasked.code, unasked.out, unasked.err]).toEqual([5, "", expect.stringContaining(question)])
  expect(unasked.err).toContain("--yes")
  expect([unreadable.code, unreadable.err]).toEqual([5, expect.stringContaining("can't be read as phone")])

  const no = home.terminal(line)
  await no.shows("[y/N]")
  no.type("n\r")
  expect(await no.ended).toBe(2)
  expect(no.seen().replaceAll(/\s+/g, " ")).toContain(question)
  expect(no.seen()).toContain("Nothing was changed.")
  expect(await count(person)).toBe(2)

  // Held up as the index's own work holds it up, so that it takes long enough to be told about.
  const holder = new Client({ connectionString: app.databaseUrl })
  await holder.connect()
  await holder.query(`SELECT pg_advisory_lock(hashtext(current_schema()), ${segmentsLock})`)
  const yes = home.terminal(line)
  await yes.shows("[y/N]")
  yes.type("y\r")
  await yes.shows("0 of 2 runs erased")
  await holder.end()
  expect(await yes.ended).toBe(0)
  expect(yes.seen()).toContain("Erased 2 runs. Their charges and ledger entries stay.")
  expect([await count(person), await count("bob@erase.example")]).toEqual([0, 1])
  for (const [index, run] of made.entries()) {
    const { body } = await org.get(`/v1/runs/${run.body.run_id}`)
    expect([body.billing, body.result === undefined]).toEqual([run.body.billing, index < 2])
  }
  expect(await org.ledger()).toEqual([...ledger])

  await org.run({ capability: "email.verify", input: { email: "eve@erase.example" }, metadata: { for: person } })
  const again = home.terminal(line)
  await again.shows("[y/N]")
  again.type("y\r")
  expect(await again.ended).toBe(0)
  expect(again.seen().replaceAll(/\s+/g, " ")).toContain(
    "Erase labels and rows of batches that name ada@erase.example (email), which no run has in its input or result?"
  )
  expect(again.seen()).toContain("Erased 1 run. Their charges and ledger entries stay.")
})

test("a program says --yes, gets the answer of the API, and learns by the exit code that a run must end first", async () => {
  await verify("cyd@late.example")
  const slow = await org.run({ ...rehearseHeld(), async: true })
  await until(
    "it runs",
    async () => (await org.get(`/v1/runs/${slow.body.run_id}`)).body.status,
    (status) => status === "running"
  )
  await org.run({ capability: "email.verify", input: { email: "dan@sandbox.test" } })
  const line = "rungate history erase sandbox.test --yes"
  const early = await home.shell(line)
  expect([early.code, early.body]).toEqual([
    8,
    { subject: { query: "sandbox.test", kind: "domain", normalized: "sandbox.test" }, erased: 1, in_flight: 1 }
  ])
  expect(early.err).toContain(
    "Erasing input and result of 1 run that name sandbox.test or an address or page there. 1 run still executing will not be erased."
  )
  expect(early.err).toContain("1 run still executing and not erased")
  await held.holds(1)
  held.release()
  await org.get(`/v1/runs/${slow.body.run_id}?wait=20`)
  const late = await home.shell(`${line} --quiet`)
  expect([late.code, late.body.erased, late.body.in_flight, late.err]).toEqual([0, 1, 0, ""])
  const none = await home.shell(line)
  expect([none.code, none.body.erased]).toEqual([0, 0])
  expect([await count("sandbox.test"), await count("late.example")]).toEqual([0, 1])
})
