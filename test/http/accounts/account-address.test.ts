/**
 * An account with an address of its own: calls go there, with everything that a call needs, and never to a private network, whatever the name
 * of the host says when the connection is made.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Layer } from "effect"
import { type FindAddresses, HostAddresses } from "../../../src/layers/webhooks/Sender.ts"
import { type App, startApp, type Tenant, verify } from "../../kit/app.ts"

const settings = {
  RUNGATE_MODE: "production",
  RUNGATE_ENCRYPTION_KEY: Buffer.alloc(32, 5).toString("base64"),
  RUNGATE_PROVIDER_LEADMAGIC_API_KEY: "the-key-of-the-service"
}
const pinned = { ...verify(), routing: { provider: "leadmagic" } }

interface Heard {
  readonly path: string
  readonly key: string | null
  readonly body: unknown
}

let heard: Array<Heard> = []
let answers: (request: Request) => Response = () => Response.json({ email_status: "valid" })
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const { pathname } = new URL(request.url)
    heard.push({ path: pathname, key: request.headers.get("x-api-key"), body: await request.clone().json() })
    return answers(request)
  }
})
afterAll(() => server.stop(true))

const account = async (app: App, base_url: string) => {
  heard = []
  const org = await app.tenant("1.00")
  const set = await app.call(await org.session(), "PUT", "/v1/provider-accounts/leadmagic", {
    body: { api_key: "canary-own-leadmagic-4711", base_url, fallback: true }
  })
  return { org, set }
}
const outcomes = ({ body }: Awaited<ReturnType<Tenant["run"]>>) =>
  body.attempts.map((one: { outcome: string; account?: string; detail: string | null }) => [
    one.account ?? "platform",
    one.outcome,
    one.detail
  ])

let open: App
let guarded: App
/** What the resolver says of every name. */
let addresses: ReadonlyArray<{ address: string; family: number }> = []
const resolver: FindAddresses = (_host, found) => found(null, [...addresses])
beforeAll(async () => {
  open = await startApp({ settings: { ...settings, RUNGATE_OWN_ACCOUNT_ALLOW_PRIVATE: "1" } })
  // Another setting, which is for webhooks only, opens nothing here.
  const others = { ...settings, RUNGATE_WEBHOOK_ALLOW_PRIVATE: "1" }
  guarded = await startApp({ settings: others, limits: Layer.succeed(HostAddresses, resolver) })
})
afterAll(async () => {
  await open.stop()
  await guarded.stop()
})

test("calls go to the account's address, with its key, and its answer is read as the provider's", async () => {
  const { org, set } = await account(open, `http://127.0.0.1:${server.port}/of/acme/`)
  expect(set.body.base_url).toBe(`http://127.0.0.1:${server.port}/of/acme`)
  const run = await org.run({ ...pinned, response: { include_raw: true } })
  expect(run.body).toMatchObject({
    status: "succeeded",
    billing: { charged: "0.00" },
    result: { email_status: "valid" }
  })
  expect(heard).toEqual([
    {
      path: "/of/acme/v1/people/email-validation",
      key: "canary-own-leadmagic-4711",
      body: { email: "jane.doe@example.com" }
    }
  ])
})

test("a redirect is not followed, and the key in an answer is redacted", async () => {
  const { org } = await account(open, `http://127.0.0.1:${server.port}`)
  answers = () => new Response(null, { status: 307, headers: { location: `http://127.0.0.1:${server.port}/stolen` } })
  expect(outcomes(await org.run(pinned))).toEqual([["own", "provider_error", "HTTP 307: redirects are not followed"]])
  expect(heard.map(({ path }) => path)).toEqual(["/v1/people/email-validation"])
  answers = (request) => Response.json({ error: `bad: ${request.headers.get("x-api-key")}` }, { status: 500 })
  const echoed = await org.run(pinned)
  expect(outcomes(echoed)).toEqual([["own", "provider_error", "HTTP 500: bad: <redacted>"]])
})

test("an address that is private or not https is refused", async () => {
  for (const base_url of [
    `http://127.0.0.1:${server.port}`,
    `https://127.0.0.1:${server.port}`,
    "http://api.example.com"
  ]) {
    const { set } = await account(guarded, base_url)
    expect([set.status, set.body.error?.details[0].path]).toEqual([400, "base_url"])
  }
})

const privates = ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1", "::ffff:192.168.0.1"]
test.each(privates)("a name that leads to %s when the connection is made is not connected to", async (address) => {
  const { org, set } = await account(guarded, `https://api.example.com:${server.port}`)
  expect(set.status).toBe(200)
  // One public address among private ones opens nothing.
  addresses = [
    { address: "93.184.216.34", family: 4 },
    { address, family: address.includes(":") ? 6 : 4 }
  ]
  const run = await org.run(pinned)
  expect(outcomes(run)).toEqual([["own", "provider_error", "the connection failed: PRIVATE_ADDRESS"]])
  expect(heard).toEqual([])
})
