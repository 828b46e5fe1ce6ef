/** Results that nobody reads: an organization has a limited number of such streams, and each keeps little of a batch in memory. */
import { beforeAll, expect, test } from "bun:test"
import { connect } from "node:net"
import { type Reply, type Tenant, until, verify, withApp } from "../../kit/app.ts"
import { listen } from "../../kit/event-stream.ts"

const app = withApp({ settings: { RUNGATE_ORG_STREAMS: "2" } })
const rows = 40
let org: Tenant
let results: string
beforeAll(async () => {
  org = await app.tenant("10.00")
  const { body } = await org.post("/v1/batches", { runs: Array.from({ length: rows }, (_, n) => verify(`r${n}`)) })
  results = `/v1/batches/${body.id}/results`
  await until(
    "the batch to finish",
    () => org.get(`/v1/batches/${body.id}`),
    (reply: Reply) => reply.body.done
  )
  // Twelve megabytes: more than the buffers of two sockets.
  await app.sql("UPDATE runs SET result = json_build_object('filler', repeat('x', 300000)) WHERE org_id = $1", [
    org.org_id
  ])
})

/** A client that reads the beginning of the results, and no more until it is told to. */
const unread = async () => {
  const socket = connect(Number(new URL(app.url).port), "127.0.0.1")
  socket.write(`GET ${results} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${org.key}\r\n\r\n`)
  let text = ""
  socket.on("data", (chunk) => {
    if (text === "") socket.pause()
    text += chunk.toString("latin1")
  })
  await until(
    "the beginning",
    () => text,
    (all) => all.startsWith("HTTP/1.1 200")
  )
  return { socket, text: () => text }
}
const numbers = (text: string) => Array.from(text.matchAll(/"row":(\d+),/g), (match) => Number(match[1]))
const everyRow = Array.from({ length: rows }, (_, n) => n + 1)

test("an organization has a limited number of streams of results and events, and closing one makes room", async () => {
  for (let index = 0; index < 3; index++) expect((await app.call(org.key, "HEAD", results)).status).toBe(200)
  const open = [await unread(), await unread()]
  const third = await org.get(results)
  expect([third.status, third.body.error.code, third.headers.get("retry-after")]).toEqual([429, "rate_limited", "5"])
  expect((await listen(app.url, org.key)).status).toBe(429)
  const other = await app.tenant()
  const { socket } = open[0] ?? (await unread())
  socket.destroy()
  const read = await until(
    "room",
    () => org.get(results),
    ({ status }) => status === 200
  )
  expect(numbers(read.text)).toEqual(everyRow)
  const events = await listen(app.url, other.key)
  expect(events.status).toBe(200)
  events.close()
  open[1]?.socket.destroy()
})

test("rows are read from the database when the client has read those before them", async () => {
  const client = await unread()
  await org.get("/v1/batches")
  await app.sql("UPDATE runs SET result = json_build_object('late', true) WHERE org_id = $1", [org.org_id])
  client.socket.resume()
  await until(
    "the last row",
    () => client.text(),
    (text) => text.includes(`"row":${rows},`) && text.endsWith("0\r\n\r\n")
  )
  const text = client.text()
  expect(numbers(text)).toEqual(everyRow)
  expect(text.split("\n").find((line) => line.includes('"row":25,'))).toContain("late")
})

test("a page with a limit has at most 8 MiB, and the pages together have each row once", async () => {
  await app.sql("UPDATE runs SET result = json_build_object('filler', repeat('x', 900000)) WHERE org_id = $1", [
    org.org_id
  ])
  const seen: Array<number> = []
  let count = 0
  for (let page = await org.get(`${results}?limit=15`); page.text !== ""; count++) {
    expect(page.text.length).toBeLessThanOrEqual(8 * 1024 * 1024)
    seen.push(...numbers(page.text))
    page = await org.get(`${results}?limit=15&cursor=${seen.at(-1)}`)
  }
  expect(seen).toEqual(everyRow)
  expect(count).toBe(5)
  expect(numbers((await org.get(`${results}?limit=3&cursor=2`)).text)).toEqual([3, 4, 5])
})
