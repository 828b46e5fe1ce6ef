/**
 * A provider that misbehaves on the wire: a raw TCP server in a process of its own, so that what it costs to misbehave is not
 * mistaken for what it costs to be its client. The last segment of a request's path names the case, or else the test did; the
 * server tells how many sockets it has open, how many requests it got, and the very bytes of the last one.
 */
import { createServer, type Socket } from "node:net"
import { createGzip, gzipSync } from "node:zlib"

const head = (more: string, status = "HTTP/1.1 200 OK") => `${status}\r\ncontent-type: application/json\r\n${more}\r\n`
const sized = (body: string | Uint8Array, more = "") =>
  head(`content-length: ${typeof body === "string" ? Buffer.byteLength(body) : body.length}\r\n${more}`)
const chunked = head("transfer-encoding: chunked\r\n")
const good = '{"ok":true}'

type Case = (socket: Socket) => void

const every = (millis: number, socket: Socket, work: () => void) => {
  const timer = setInterval(work, millis)
  socket.on("close", () => clearInterval(timer))
}

/** Writes for as long as somebody reads. */
const flood = (socket: Socket, next: () => string | Uint8Array | null) => {
  let open = true
  socket.on("close", () => {
    open = false
  })
  const go = () => {
    while (open) {
      const part = next()
      if (part === null) {
        socket.off("drain", go)
        return
      }
      if (!socket.write(part)) return
    }
  }
  socket.on("drain", go)
  go()
}

const repeated = (bytes: string | Uint8Array, times: number) => {
  let left = times
  return () => (left-- > 0 ? bytes : null)
}

const mebibyte = 1024 * 1024
/** A gigabyte of spaces inside one JSON string; packed once, about a megabyte. */
const bomb = (): Promise<Uint8Array> =>
  new Promise((resolve) => {
    const gzip = createGzip({ level: 1 })
    const parts: Array<Uint8Array> = []
    gzip.on("data", (part: Uint8Array) => parts.push(part))
    gzip.on("end", () => resolve(Buffer.concat(parts)))
    gzip.write('{"a":"')
    const spaces = Buffer.alloc(mebibyte, " ")
    let left = 1024
    const go = () => {
      while (left-- > 0) if (!gzip.write(spaces)) return gzip.once("drain", go)
      return gzip.end('"}')
    }
    go()
  })
let packed: Promise<Uint8Array> | undefined

const sends = (text: string | Uint8Array, more = ""): Case => {
  const header = sized(text, more)
  return (socket) => {
    socket.write(header)
    socket.write(text)
  }
}
const ends =
  (text: string): Case =>
  (socket) =>
    socket.end(text)
const writes =
  (text: string): Case =>
  (socket) =>
    socket.write(text)

/** `[one,one,…]` of so many bytes. */
const listOf = (one: string, bytes: number) =>
  `[${Array(Math.floor(bytes / (one.length + 1)))
    .fill(one)
    .join(",")}]`

/** Cases that answer nothing whole: each must end as a failure at the latest at the deadline. */
export const hangs: Readonly<Record<string, Case>> = {
  "accept-silent": () => {},
  "headers-then-hang": writes(head("content-length: 10\r\n")),
  "slow-loris-head": (socket) => {
    const text = sized(good)
    let at = 0
    every(200, socket, () => socket.write(text[at++] ?? " "))
  },
  "slow-loris-body": (socket) => {
    socket.write(chunked)
    every(200, socket, () => socket.write("1\r\n \r\n"))
  },
  reset: (socket) => socket.resetAndDestroy(),
  "reset-in-body": (socket) => {
    socket.write(`${head("content-length: 11\r\n")}{"ok"`, () => socket.resetAndDestroy())
  },
  "half-close": (socket) => socket.end(),
  "half-close-after-head": ends(head("content-length: 11\r\n")),
  "truncated-body": ends(`${head("content-length: 100\r\n")}${good}`),
  "truncated-chunk": ends(`${chunked}20\r\n${good}`),
  "missing-last-chunk": ends(`${chunked}b\r\n${good}\r\n`),
  "bad-chunk-size": ends(`${chunked}zz\r\n${good}\r\n0\r\n\r\n`),
  "double-content-length": writes(`${head("content-length: 11\r\ncontent-length: 3\r\n")}${good}`),
  "negative-content-length": writes(`${head("content-length: -1\r\n")}${good}`),
  "endless-content-length": writes(`${head("content-length: 99999999999999999999\r\n")}${good}`),
  "http-0.9": ends(good),
  "http-2-line": writes(head("content-length: 11\r\n", "HTTP/2.0 200 OK") + good),
  "1xx-flood": (socket) => {
    every(1, socket, () => socket.write("HTTP/1.1 100 Continue\r\n\r\n".repeat(50)))
  },
  "101-upgrade": writes("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
  "status-999": writes(head("content-length: 11\r\n", "HTTP/1.1 999 Nope") + good),
  "status-0": writes(head("content-length: 11\r\n", "HTTP/1.1 000 Nope") + good),
  "status-1000": writes(head("content-length: 11\r\n", "HTTP/1.1 1000 Nope") + good),
  "bad-status-line": writes(`HELLO WORLD\r\n\r\n${good}`),
  "nul-in-header": writes(`${head("x: a\0b\r\ncontent-length: 11\r\n")}${good}`),
  "endless-headers": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n")
    let number = 0
    flood(socket, () => `x-${number++}: ${"y".repeat(900)}\r\n`)
  },
  "endless-header": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nx: ")
    flood(socket, () => "y".repeat(9_000))
  },
  "endless-chunks": (socket) => {
    socket.write(chunked)
    const chunk = `10000\r\n${" ".repeat(65_536)}\r\n`
    flood(socket, () => chunk)
  },
  "broken-gzip": sends(good, "content-encoding: gzip\r\n"),
  "truncated-gzip": sends(gzipSync(`{"a":"${"x".repeat(9_999)}"}`).subarray(0, 25), "content-encoding: gzip\r\n")
}

/** Cases that are too much for a process to take. */
export const bodies: Readonly<Record<string, Case>> = {
  "gzip-bomb": (socket) => {
    packed ??= bomb()
    void packed.then((bytes) => sends(bytes, "content-encoding: gzip\r\n")(socket))
  },
  "header-1-mb": writes(sized(good, `x-long: ${"y".repeat(mebibyte)}\r\n`) + good),
  "json-50-mb": (socket) => {
    const part = Buffer.from(`${JSON.stringify({ name: "Jane Doe", title: "CEO", employees: 12 })},`.repeat(1_000))
    socket.write(`${head(`content-length: ${50 * mebibyte}\r\n`)}[`)
    flood(socket, repeated(part, Math.ceil((50 * mebibyte) / part.length)))
  },
  "deep-arrays": sends("[".repeat(100_000) + "]".repeat(100_000)),
  "deep-objects": sends(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`),
  "deep-in-a-small-answer": sends(`{"a":${"[".repeat(600)}${"]".repeat(600)}}`),
  "thirty-mb-of-empty-arrays": (socket) => sends(listOf("[]", 30 * mebibyte))(socket),
  "a-million-new-names": (socket) =>
    sends(`[${Array.from({ length: 1_000_000 }, (_, index) => `{"k${index}":1}`).join(",")}]`)(socket),
  "names-in-every-order": (socket) => {
    const names = Array.from({ length: 30 }, (_, index) => `"k${index}":1`)
    const turned = (by: number) =>
      names.map((_, index) => names[(index * (2 * by + 7) + (by >> 3)) % 30] ?? "").join(",")
    sends(`[${Array.from({ length: 100_000 }, (_, by) => `{${turned(by)},"n${by}":1}`).join(",")}]`)(socket)
  },
  "thirty-mb-of-numbers": (socket) => sends(listOf("1", 30 * mebibyte))(socket)
}

/** As much as is still taken: it must be parsed and handed on without stopping the process for long. */
export const large: Readonly<Record<string, Case>> = {
  "thirty-mb-of-records": (socket) =>
    sends(
      listOf(JSON.stringify({ name: "Jane Doe", title: "CEO", about: "x".repeat(100), employees: 12 }), 30 * mebibyte)
    )(socket),
  "brackets-in-strings": sends(JSON.stringify({ a: "[{".repeat(1_000), b: '\\"[', c: "😀".repeat(100_000) }))
}

const orderly: Readonly<Record<string, Case>> = {
  good: sends(good),
  /** An answer that nobody asked for follows the answer. */
  "two-answers": writes(`${sized(good)}${good}${sized('{"ok":false}')}{"ok":false}`)
}

const cases = { ...hangs, ...bodies, ...large, ...orderly }

export interface Told {
  readonly open: number
  /** Connections so far. */
  readonly connections: number
  readonly requests: number
  readonly last: string
}

if (import.meta.main) {
  let open = 0
  let connections = 0
  let requests = 0
  let last = ""
  let fallback = ""
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open += 1
    connections += 1
    socket.on("close", () => {
      open -= 1
    })
    socket.on("error", () => {})
    socket.on("end", () => socket.end())
    let request = ""
    socket.on("data", (bytes) => {
      request += bytes.toString("latin1")
      if (!request.includes("\r\n\r\n")) return
      last = request
      requests += 1
      const name = /^\S+ [^ ?]*\/([^ /?]+)[ ?]/.exec(request)?.[1] ?? ""
      request = ""
      const found = new Map(Object.entries(cases))
      void (found.get(name) ?? found.get(fallback))?.(socket)
    })
  })
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    process.send?.({ port: typeof address === "object" ? address?.port : null })
  })
  process.on("message", (play) => {
    if (typeof play === "string" && play !== "") fallback = play
    process.send?.({ open, connections, requests, last } satisfies Told)
  })
  process.on("disconnect", () => process.exit())
}

export interface Hostile {
  readonly url: string
  readonly tell: () => Promise<Told>
  /** The case of requests whose path names none. */
  readonly play: (name: string) => Promise<Told>
  readonly stop: () => Promise<void>
}

/** Starts the server; it ends with this process. */
export const startHostile = async (): Promise<Hostile> => {
  let heard: (message: never) => void = () => {}
  const next = <A>() =>
    new Promise<A>((resolve) => {
      heard = resolve
    })
  const listening = next<{ port: number }>()
  const child = Bun.spawn([process.execPath, import.meta.path], {
    stdout: "inherit",
    stderr: "inherit",
    ipc: (message) => heard(message as never)
  })
  const { port } = await listening
  const ask = (play: string) => {
    const told = next<Told>()
    child.send(play)
    return told
  }
  return {
    url: `http://127.0.0.1:${port}`,
    tell: () => ask(""),
    play: ask,
    stop: async () => {
      child.kill()
      await child.exited
    }
  }
}
