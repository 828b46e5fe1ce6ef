/**
 * T61: an input that names an internal address is data for a provider and never an address for us. Traps listen wherever the inputs point,
 * every connection of this process is watched, and so is every name that it resolves.
 */
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test"
import dns from "node:dns"
import { type App, figures, startApp, type Tenant } from "../kit/app.ts"
import { documentOf, endpointOf } from "../kit/provider-documents.ts"
import { capabilities } from "../../src/schema/capabilities/index.ts"
import { providers } from "../../src/layers/providers/index.ts"
import { hasten } from "../layers/providers/standin.ts"
import { watchPeers } from "../kit/open-connections.ts"

/** Whoever connects here followed an input. It listens on every address of this machine. */
const trapped: Array<string> = []
const trap = Bun.listen({
  hostname: "::",
  port: 0,
  socket: {
    open: (socket) => {
      trapped.push(socket.remoteAddress)
      socket.end()
    },
    data: () => {}
  }
})

/** Takes every provider's place and refuses each request as wrong. */
const received: Array<string> = []
const everybody = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    received.push(`${decodeURIComponent(request.url)} ${await request.text()}`)
    return Response.json({ error: "no such thing" }, { status: 404 })
  }
})

const rebinding = "rebind.attacker.example"
const hosts = [
  "127.0.0.1",
  "localhost",
  "[::1]",
  "[::ffff:7f00:1]",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "127.1",
  "0.0.0.0",
  "169.254.169.254",
  "metadata.google.internal",
  rebinding
]
const port = trap.port
/** A host in every way in which a field may take one. */
const spellings = (host: string): ReadonlyArray<string> => [
  `http://${host}:${port}/latest/meta-data/`,
  `https://user@${host}:${port}`,
  `file:///etc/passwd#${host}`,
  `${host}:${port}`,
  host,
  `jane@${host}`
]

let app: App
let org: Tenant
let watched: ReturnType<typeof watchPeers>
const unhasten = hasten()
const fetched = spyOn(globalThis, "fetch")
const looked = spyOn(dns, "lookup")
const resolved = spyOn(dns.promises, "lookup")
beforeAll(async () => {
  const account = (slug: string) => {
    const name = `RUNGATE_PROVIDER_${slug.toUpperCase()}`
    return [
      [`${name}_API_KEY`, "login:pa55word"],
      [`${name}_BASE_URL`, `http://127.0.0.1:${everybody.port}/${slug}`]
    ]
  }
  const accounts = Object.fromEntries([...providers.map(({ slug }) => slug), "acme"].flatMap(account))
  app = await startApp({ settings: { ...accounts, RUNGATE_MODE: "production", RUNGATE_DRAIN_SECONDS: "0" } })
  const object = { type: "object", properties: { url: { type: "string" } }, additionalProperties: false }
  const scrape = endpointOf({
    path: "/scrape/{url}",
    method: "POST",
    body: object,
    path_params: object,
    query_params: object
  })
  await app.catalog(documentOf("acme", [scrape]))
  org = await app.tenant("9000.00")
  await org.post("/v1/spend-guard", { daily_limit: "9000.00" })
  watched = watchPeers(new Set([Number(new URL(app.url).port), everybody.port ?? 0, port]))
})
afterAll(async () => {
  watched.stop()
  unhasten()
  await app.stop()
  for (const spy of [fetched, looked, resolved]) spy.mockRestore()
  await everybody.stop(true)
  trap.stop(true)
})

/** Every capability with each text field of its example replaced, by one spelling of one host after the other. */
const inputs = () => {
  let turn = 0
  return capabilities.flatMap(({ slug, example, status }) => {
    if (status !== "live") return []
    const fields = Object.entries(Object(example)).filter(([, value]) => typeof value === "string")
    return fields.flatMap(([field, value]) => {
      const urlLike = /url|domain|site|website|link/i.test(field) || /\.\w{2,}/.test(String(value))
      return Array.from({ length: urlLike ? 12 : 1 }, () => {
        const host = hosts[turn % hosts.length] ?? ""
        const spelled = spellings(host)
        const text = spelled[Math.floor(turn++ / hosts.length) % spelled.length] ?? ""
        return { capability: slug, input: { ...Object(example), [field]: text }, routing: { allow_fallback: false } }
      })
    })
  })
}

describe("T61 ssrf.input_urls_and_dns", () => {
  test("inputs that name internal addresses open no connection and resolve no name", async () => {
    const before = Bun.dns.getCacheStats()
    const asked = inputs()
    const raw = hosts.flatMap(spellings).flatMap((url) => [
      { provider: "acme", endpoint: "/scrape/{url}", path: { url: "x" }, input: { url } },
      { provider: "acme", endpoint: "/scrape/{url}", path: { url }, query: { url }, input: {} }
    ])
    let accepted = 0
    const all = [...asked, ...raw]
    for (let start = 0; start < all.length; start += 20) {
      const answers = await Promise.all(all.slice(start, start + 20).map((body) => org.run(body)))
      for (const { status, body } of answers) {
        expect(status).not.toBe(500)
        if (typeof body.run_id === "string") accepted += 1
      }
    }
    const after = Bun.dns.getCacheStats()
    const allowed = [app.databaseUrl, app.url, `http://127.0.0.1:${everybody.port}`].map((url) => {
      const { hostname, port } = new URL(url)
      return `${hostname}:${port}`
    })
    expect(trapped).toEqual([])
    // Other test files of this process have servers on the loopback address; there the traps listen.
    const isOurs = (peer: string) => allowed.includes(peer) || peer.startsWith("127.0.0.1:")
    expect(watched.seen().filter((peer) => !isOurs(peer))).toEqual([])
    expect(watched.seen().length).toBeGreaterThan(0)
    const targets = fetched.mock.calls.map(
      ([target]) => new URL(target instanceof Request ? target.url : String(target)).host
    )
    expect([...new Set(targets)].filter((host) => !allowed.includes(host))).toEqual([])
    const names = [...looked.mock.calls, ...resolved.mock.calls].map(([name]) => String(name))
    expect(names.filter((name) => hosts.includes(name))).toEqual([])
    expect(after.totalCount - before.totalCount).toBe(0)
    // Providers got what was asked for: the hostile texts did travel, as data.
    const told = received.filter((text) => hosts.some((host) => text.includes(host) && host !== "127.0.0.1"))
    expect(told.length).toBeGreaterThan(50)
    figures("T61 ssrf.input_urls_and_dns", {
      inputs: all.length,
      accepted,
      reached_a_provider: told.length,
      peers: watched.seen().length,
      names_resolved: after.totalCount - before.totalCount,
      violations: trapped.length
    })
    await app.books()
  })

  test("control: the watch sees a connection, and the trap is one", async () => {
    await fetch(`http://127.0.0.1:${port}/`).catch(() => null)
    expect(trapped.length).toBeGreaterThan(0)
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } })
    socket.end()
    const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } })
    const open = await Bun.connect({ hostname: "127.0.0.1", port: server.port, socket: { data() {} } })
    expect(watched.seen()).toContain(`127.0.0.1:${server.port}`)
    open.end()
    server.stop(true)
  })
})
