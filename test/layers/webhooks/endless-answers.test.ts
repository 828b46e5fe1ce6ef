/** Receivers that send without end what is no answer: before one, and around the parts of its body. Each sends as fast as it can. */
import { afterAll, describe, expect, test } from "bun:test"
import { createServer, type Socket } from "node:net"
import { Layer, ManagedRuntime } from "effect"
import { publicRequest } from "../../../src/layers/executor/PublicRequest.ts"
import { Settings } from "../../../src/layers/platform/Settings.ts"
import { AnswerMillisMax, lookupOf, WebhookSender } from "../../../src/layers/webhooks/Sender.ts"

const runtime = ManagedRuntime.make(
  WebhookSender.layer.pipe(
    Layer.provide(Settings.layerFrom({ RUNGATE_WEBHOOK_ALLOW_PRIVATE: "1" })),
    Layer.provide(Layer.succeed(AnswerMillisMax, 10_000))
  )
)

const sockets = new Set<Socket>()
let begins = ""
let repeats = ""
let sent = 0
const server = createServer((socket) => {
  sockets.add(socket)
  socket.on("error", () => undefined)
  const more = () => {
    do sent += repeats.length
    while (!socket.destroyed && socket.write(repeats))
  }
  socket.once("data", () => {
    socket.write(begins)
    if (repeats === "") return
    socket.on("drain", more)
    more()
  })
})
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
const address = server.address()
const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  server.close()
  await runtime.dispose()
})

const answering = (first: string, then: string) => {
  begins = first
  repeats = then.repeat(Math.ceil(16_384 / Math.max(1, then.length)))
  sent = 0
}
const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
const floods = [
  ["interim answers", "", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"],
  ["empty lines", "", "\r\n"],
  ["zeros before the length of a part", chunked, "0"]
] as const
const changes = "101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x"
/** What a flood may send before its connection is closed, and far less than it sends in a second. */
const bytesMax = 64 * 1_024 * 1_024

describe("a webhook", () => {
  test.each(floods)("ends at endless %s", async (_, first, then) => {
    answering(first, then)
    const webhook = { url, event_id: "msg_1", body: "{}", secrets: ["whsec_AAAA"] }
    const sender = await runtime.runPromise(WebhookSender)
    const answer = "the receiver sent too much beside its answer"
    expect(await runtime.runPromise(sender.send(webhook))).toMatchObject({ status: null, answer })
    expect(sent).toBeLessThan(bytesMax)
  })

  test("ends at an answer that changes the protocol", async () => {
    answering(`HTTP/1.1 ${changes}\r\n\r\n`, "")
    const sender = await runtime.runPromise(WebhookSender)
    const sent = sender.send({ url, event_id: "msg_1", body: "{}", secrets: ["whsec_AAAA"] })
    expect(await runtime.runPromise(sent)).toMatchObject({ status: null, answer: "the receiver changed the protocol" })
  })

  test("takes an answer that is not longer than it may be", async () => {
    answering(`HTTP/1.1 103 Early Hints\r\n\r\n${chunked}${"1\r\nx\r\n".repeat(2_000)}0\r\n\r\n`, "")
    const webhook = { url, event_id: "msg_1", body: "{}", secrets: ["whsec_AAAA"] }
    const sender = await runtime.runPromise(WebhookSender)
    expect(await runtime.runPromise(sender.send(webhook))).toMatchObject({ status: 200, answer: "x".repeat(2_000) })
  })
})

describe("a call through an account with its own address", () => {
  const find = lookupOf((_host, found) => found(null, [{ address: "127.0.0.1", family: 4 }]), true)
  const ask = () =>
    publicRequest(
      find,
      true
    )({
      ...{ url: new URL(url), method: "POST", headers: {}, body: "{}", signal: AbortSignal.timeout(10_000) }
    })

  test.each(floods)("ends at endless %s", async (_, first, then) => {
    answering(first, then)
    const failure = await ask()
      .then((response) => response.text())
      .then(
        () => null,
        (error: Error) => error.message
      )
    expect(failure).toMatch(/too much beside its answer|aborted/)
    expect(failure).not.toMatch(/timed out/)
    expect(sent).toBeLessThan(bytesMax)
  })

  test.each(["999 Odd", "099 Odd", changes])("fails at the status %s, and the process lives", async (status) => {
    answering(`HTTP/1.1 ${status}\r\nContent-Length: 2\r\n\r\nhi`, "")
    await expect(ask()).rejects.toThrow(/status provided|changed the protocol/)
  })

  test("takes an answer of 2 MiB in small parts", async () => {
    const part = "x".repeat(64)
    answering(`${chunked}${`40\r\n${part}\r\n`.repeat(32_768)}0\r\n\r\n`, "")
    expect((await (await ask()).text()).length).toBe(2 * 1_024 * 1_024)
  })
})
