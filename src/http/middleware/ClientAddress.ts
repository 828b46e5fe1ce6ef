/**
 * The client address of a request, for rate limits.
 *
 * Without trusted proxies it is the address of the connection. Behind `hops` proxies it is the entry of `X-Forwarded-For` that the outermost
 * one wrote, counted from the right: entries further left come from the client. `Forwarded` is not read.
 */
import { Context, Result } from "effect"
import { NetAddress } from "effect/net"

/** The address in an entry of X-Forwarded-For. Some proxies add a port, and brackets around an IPv6 address. Null for anything else. */
const addressIn = (entry: string): NetAddress.IpAddress | null => {
  const text = entry.trim().replace(/^"(.*)"$/, "$1")
  const ip = NetAddress.ipFromString(text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text)
  if (Result.isSuccess(ip)) return NetAddress.toCanonical(ip.success)
  const socket = NetAddress.inetAddressFromString(text)
  return Result.isSuccess(socket) ? NetAddress.toCanonical(socket.success.address) : null
}

/** A customer usually has a whole /64 network of IPv6, so its addresses count as one. */
const groupOf = (address: NetAddress.IpAddress): string =>
  NetAddress.isIpv6Address(address)
    ? `${NetAddress.ipv6ToSegments(address)
        .slice(0, 4)
        .map((segment) => segment.toString(16))
        .join(":")}::/64`
    : NetAddress.formatIp(address)

/**
 * The client address in `forwardedFor` behind `hops` trusted proxies. An entry that is not an address is skipped, and the next one to the
 * right counts, which a trusted proxy has written. Without such an entry it is the connection's address, or "" if that is unknown.
 */
export const clientAddress = (peer: string | null, forwardedFor: string | undefined, hops: number): string => {
  const entries = hops === 0 || forwardedFor === undefined ? [] : forwardedFor.split(",")
  for (const entry of entries.slice(-hops)) {
    const address = hops === 0 ? null : addressIn(entry)
    if (address !== null) return groupOf(address)
  }
  const own = peer === null ? null : addressIn(peer)
  return own === null ? (peer ?? "") : groupOf(own)
}

/** Looks up the address at the other end of a request's connection. */
export interface PeersShape {
  /** Null if the address is unknown. */
  readonly of: (request: Request) => string | null
}

/** The server provides it for the requests that come over its socket. */
export const Peers = Context.Reference<PeersShape>("rungate/http/middleware/Peers", {
  defaultValue: () => ({ of: () => null })
})
