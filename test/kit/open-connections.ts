/** The TCP connections that this process has opened, as Linux knows them. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs"

/** Established, or on the way to it. */
const outgoing = new Set(["01", "02"])

/** `7F000001:1F90` and its IPv6 kin, as an address and a port. */
const readable = (text: string): string => {
  const [address = "", port = ""] = text.split(":")
  const bytes = (address.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16))
  const words = Array.from({ length: bytes.length / 4 }, (_, at) => bytes.slice(4 * at, 4 * at + 4).reverse()).flat()
  const four = words.length === 16 && words.slice(0, 10).every((byte) => byte === 0) ? words.slice(-4) : words
  const host = four.length === 4 ? four.join(".") : Buffer.from(four).toString("hex")
  return `${host}:${Number.parseInt(port, 16)}`
}

/** Remote ends of this process's sockets, connections that others opened to `listening` ports of ours excluded. */
export const peersOf = (pid: number | "self", listening: ReadonlySet<number>): ReadonlyArray<string> => {
  const own = new Set<string>()
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]
      if (inode !== undefined) own.add(inode)
    } catch {
      // Closed between the listing and the look.
    }
  }
  return ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, "utf8")
      .trim()
      .split("\n")
      .slice(1)
      .flatMap((line) => {
        const [, local = "", remote = "", state = "", , , , , , inode = ""] = line.trim().split(/\s+/)
        const port = Number.parseInt(local.split(":")[1] ?? "", 16)
        return outgoing.has(state) && own.has(inode) && !listening.has(port) ? [readable(remote)] : []
      })
  )
}

/** One look reads two tables of the kernel, which have the connections of everybody on this machine. */
const lookMillis = 200

/** Looks again and again who this process is connected to, until `stop`. */
export const watchPeers = (listening: ReadonlySet<number>) => {
  const seen = new Set<string>()
  const look = () => {
    for (const peer of peersOf("self", listening)) seen.add(peer)
  }
  const timer = setInterval(look, lookMillis)
  return {
    seen: () => {
      look()
      return [...seen]
    },
    stop: () => clearInterval(timer)
  }
}
