/**
 * Clients that wait, in a process of their own: each has one connection and one request for a slow run.
 *
 * Plain sockets, because `fetch` has at most 256 requests under way, and its thousands would take the CPU from the service.
 */
export interface Waited {
  readonly answered: number
  /** Milliseconds from the end of each run, as the run says it, until its client has the whole answer. */
  readonly late: ReadonlyArray<number>
}

interface Run {
  readonly status?: string
  readonly created_at?: string
  readonly timing?: { readonly duration_ms?: number }
}

/** Opened at once, so that the backlog of the listening socket takes them all. */
const openedAtOnce = 100

const [url = "", key = "", count = "0", slowSeconds = "0", waitSeconds = "0"] = process.argv.slice(2)
const { hostname, port } = new URL(url)
const body = JSON.stringify({
  capability: "email.find",
  input: { full_name: `sandbox:slow_${slowSeconds}`, company_domain: "example.com" },
  wait_seconds: Number(waitSeconds)
})
const request = [
  "POST /v1/run HTTP/1.1",
  `host: ${hostname}:${port}`,
  `authorization: Bearer ${key}`,
  "content-type: application/json",
  `content-length: ${body.length}`,
  "",
  body
].join("\r\n")

const late: Array<number> = []
let answered = 0

const take = (answer: string) => {
  const now = Date.now()
  const run: Run = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")))
  if (run.status !== "succeeded") return
  answered += 1
  late.push(now - (Date.parse(run.created_at ?? "") + (run.timing?.duration_ms ?? 0)))
}

/** Opens one client. Resolves when it has sent its request; `done` when it has its answer. */
const open = async () => {
  const { promise: done, resolve } = Promise.withResolvers<void>()
  let text = ""
  const ended = () => resolve()
  await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: (socket) => {
        socket.write(request)
      },
      data: (socket, chunk) => {
        text += chunk.toString("latin1")
        const length = /content-length: (\d+)/i.exec(text)?.[1]
        const head = text.indexOf("\r\n\r\n")
        if (length === undefined || head < 0 || text.length < head + 4 + Number(length)) return
        take(text)
        socket.end()
      },
      close: ended,
      error: ended
    }
  })
  return { done }
}

const clients: Array<Promise<void>> = []
while (clients.length < Number(count)) {
  const opened = await Promise.all(Array.from({ length: Math.min(openedAtOnce, Number(count) - clients.length) }, open))
  clients.push(...opened.map((client) => client.done))
}
process.stderr.write(`    ${clients.length} clients wait\n`)
await Promise.all(clients)
process.stdout.write(JSON.stringify({ answered, late } satisfies Waited))
