/** Webhooks to hosts that change their address, to receivers that misuse the connection, and to URLs that try to add headers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { createServer, isIPv6, type Server } from "node:net"
import { Layer } from "effect"
import { AnswerMillisMax, type FindAddresses, HostAddresses } from "../../../../src/layers/webhooks/Sender.ts"
import { type App, startApp, type Tenant, until, verify, withApp } from "../../../kit/app.ts"
import { receiver } from "../../../kit/webhook-receiver.ts"

const answerMillis = 300
/** Addresses of each host name, as its owner's name server answers at the moment. */
const addresses = new Map<string, ReadonlyArray<string>>()
const find: FindAddresses = (hostname, found) =>
  found(
    null,
    (addresses.get(hostname) ?? []).map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  )
const limits = Layer.merge(Layer.succeed(HostAddresses, find), Layer.succeed(AnswerMillisMax, answerMillis))

/** An organization of its own that creates endpoints and looks at their deliveries. */
const follower = async (app: App) => {
  const org: Tenant = await app.tenant("5.00")
  const session = await org.session()
  const asked = (url: string) =>
    app.call(session, "POST", "/v1/webhook-endpoints", { body: { url, events: ["run.finished"] } })
  const create = async (url: string) => {
    const { status, body } = await asked(url)
    expect([status, body.error]).toEqual([200, undefined])
    return body
  }
  /** The newest delivery, once it has an answer. */
  const answered = (id: string) =>
    until(
      "an answer",
      async () => (await app.call(session, "GET", `/v1/webhook-endpoints/${id}/deliveries`)).body.items[0],
      (delivery) => (delivery?.answers.length ?? 0) > 0
    )
  return { org, asked, create, answered }
}

describe("addresses are checked at each connection", () => {
  let app: App
  let inside: Server
  let port = 0
  let connections = 0
  beforeAll(async () => {
    app = await startApp({ limits })
    inside = createServer((socket) => {
      connections += 1
      socket.destroy()
    })
    await new Promise<void>((resolve) => inside.listen(0, "127.0.0.1", resolve))
    const address = inside.address()
    port = typeof address === "object" && address !== null ? address.port : 0
  })
  afterAll(async () => {
    inside.close()
    await app.stop()
  })

  const privates: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["is private now", ["127.0.0.1"]],
    ["has a private address beside public ones", ["203.0.114.7", "127.0.0.1"]],
    ["has a private address of the other family", ["203.0.114.7", "::1"]],
    ["is the cloud's metadata service", ["169.254.169.254"]],
    ["embeds a private address", ["::ffff:127.0.0.1"]],
    ["has no address", []]
  ]
  test.each(privates)("a host name that %s is refused", async (_, found) => {
    const { org, create, answered } = await follower(app)
    const host = `${crypto.randomUUID()}.example.com`
    // The address was public when the endpoint was created.
    addresses.set(host, ["203.0.114.7"])
    const { id } = await create(`https://${host}:${port}/hooks`)
    addresses.set(host, found)
    await org.run(verify())
    const delivery = await answered(id)
    expect(delivery).toMatchObject({ status: "pending", attempts: 1 })
    expect(delivery.answers[0].status).toBeNull()
    expect(delivery.answers[0].answer).toContain(found.length === 0 ? "no address" : "private address")
    expect(connections).toBe(0)
  })
})

describe("receivers", () => {
  const app = withApp({ limits, settings: { RUNGATE_WEBHOOK_ALLOW_PRIVATE: "1" } })

  test("the connection goes to the address that was looked up, with the name as its host", async () => {
    const { org, create, answered } = await follower(app)
    const hooks = receiver()
    addresses.set("hooks.example.com", ["127.0.0.1"])
    const { id } = await create(`http://hooks.example.com:${hooks.port}/hooks`)
    await org.run(verify())
    expect((await answered(id)).status).toBe("delivered")
    expect(hooks.got[0]?.headers["host"]).toBe(`hooks.example.com:${hooks.port}`)
    await hooks.stop()
  })

  test("over TLS the server is asked for the name, and not for the address", async () => {
    const { org, create, answered } = await follower(app)
    let hello = ""
    const server = createServer((socket) => {
      socket.once("data", (data) => {
        hello = data.toString("latin1")
        socket.destroy()
      })
      socket.on("error", () => {})
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    addresses.set("tls.example.com", ["127.0.0.1"])
    const { id } = await create(`https://tls.example.com:${port}/hooks`)
    await org.run(verify())
    expect((await answered(id)).answers[0].status).toBeNull()
    // The first message of TLS names the server in plain text.
    expect(hello).toContain("tls.example.com")
    server.close()
  })

  test("an answer that never ends is given up, and its connection is closed", async () => {
    const { org, create, answered } = await follower(app)
    const hooks = receiver()
    hooks.state.body = () =>
      new ReadableStream({
        pull: async (controller) => {
          await Bun.sleep(20)
          controller.enqueue(new TextEncoder().encode("."))
        }
      })
    const { id } = await create(hooks.url)
    await org.run(verify())
    const delivery = await answered(id)
    expect(delivery).toMatchObject({ status: "pending", attempts: 1 })
    expect(delivery.answers[0]).toMatchObject({ status: null, answer: expect.stringContaining("no answer within") })
    expect(delivery.answers[0].duration_ms).toBeLessThan(answerMillis * 10)
    await until("a closed connection", hooks.aborted, (count) => count === 1)
    await hooks.stop()
  })

  test("of a huge answer only the beginning is read", async () => {
    const { org, create, answered } = await follower(app)
    const hooks = receiver()
    const chunk = new Uint8Array(64 * 1_024).fill(120)
    const sentMax = 1_000
    let sent = 0
    hooks.state.body = () =>
      new ReadableStream({
        pull: async (controller) => {
          sent += 1
          if (sent > sentMax) return controller.close()
          controller.enqueue(chunk)
          await Bun.sleep(1)
        }
      })
    const { id } = await create(hooks.url)
    await org.run(verify())
    const delivery = await answered(id)
    expect(delivery).toMatchObject({ status: "delivered", attempts: 1 })
    expect(delivery.answers[0].answer).toBe("x".repeat(2_048))
    await until("a closed connection", hooks.aborted, (count) => count === 1)
    expect(sent).toBeLessThan(sentMax)
    await hooks.stop()
  })

  test("a URL can't add headers or another request", async () => {
    const { org, asked, create, answered } = await follower(app)
    const hooks = receiver()
    const lines = ["\r\nx-injected: 1", "?a=\r\nx-injected: 1\r\n\r\nGET /other HTTP/1.1", " HTTP/1.1\r\nx-injected: 1"]
    for (const line of lines) {
      const { status, body } = await asked(`${hooks.url}${line}`)
      expect([status, body.error.details]).toMatchObject([400, [{ path: "url" }]])
    }
    const attacks = ["?a=%0d%0ax-injected:%201", "?a=\u560d\u560ax-injected: 1", " HTTP/1.1 x-injected: 1"]
    const endpoints = await Promise.all(attacks.map((attack) => create(`${hooks.url}${attack}`)))
    for (const { url } of endpoints) expect(url).not.toMatch(/[\r\n\s]/)
    await org.run(verify())
    for (const { id } of endpoints) expect((await answered(id)).status).toBe("delivered")
    expect(hooks.got).toHaveLength(attacks.length)
    for (const { headers, event } of hooks.got) {
      expect(headers).not.toContainKey("x-injected")
      expect(event.type).toBe("run.finished")
    }
    await hooks.stop()
  })
})
