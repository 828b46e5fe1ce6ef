/**
 * Clients that listen to events, in a process of their own: each has one connection and one stream.
 *
 * Plain sockets, because `fetch` has at most 256 requests under way. The parent writes a line to stdin for each phase.
 */
export interface Listened {
  /** Streams that were answered with 200. */
  readonly open: number
  /** Ends of runs that arrived, over all streams. */
  readonly events: number
  /** Milliseconds from a run's end, as the event says it, until a stream has it. */
  readonly late: ReadonlyArray<number>
}

/** Opened at once, so that the backlog of the listening socket takes them all. */
const openedAtOnce = 100

const [url = "", keyList = "", count = "0", expected = "0"] = process.argv.slice(2)
const { hostname, port } = new URL(url)
const keys = keyList.split(",")
const late: Array<number> = []
let open = 0
const { promise: complete, resolve } = Promise.withResolvers<void>()

const listen = async (key: string) => {
  const { promise: answered, resolve: opened } = Promise.withResolvers<void>()
  let rest = ""
  let seen = false
  await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: (socket) => {
        const head = `GET /v1/events?types=run.finished HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${key}\r\n\r\n`
        socket.write(head)
      },
      data: (_socket, chunk) => {
        const now = Date.now()
        rest += chunk.toString("latin1")
        if (!seen && rest.includes("\r\n\r\n")) {
          seen = true
          if (rest.startsWith("HTTP/1.1 200")) open += 1
          opened()
        }
        const parts = rest.split('"timestamp":"')
        for (const part of parts.slice(1)) late.push(now - Date.parse(part.slice(0, 24)))
        rest = parts.length > 1 ? (parts.at(-1) ?? "").slice(24) : rest.slice(-4_000)
        if (late.length >= Number(expected)) resolve()
      },
      close: () => opened(),
      error: () => opened()
    }
  })
  await answered
}

for (let next = 0; next < Number(count); next += openedAtOnce) {
  const some = Array.from({ length: Math.min(openedAtOnce, Number(count) - next) }, (_, index) => next + index)
  await Promise.all(some.map((index) => listen(keys[index % keys.length] ?? "")))
}
process.stdout.write("open\n")
await Promise.race([complete, Bun.sleep(60_000)])
process.stdout.write(`${JSON.stringify({ open, events: late.length, late } satisfies Listened)}\n`)
process.exit(0)
