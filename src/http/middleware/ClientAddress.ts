/**
 * The client address of a request, for rate limits.
 *
 * Without trusted proxies it is the address of the connection. Behind `hops` proxies it is the entry of `X-Forwarded-For` that the outermost
 * one wrote, counted from the right: entries further left come from the client. `Forwarded` is not read.
 */
import { Context, Result } from "effect"
import { NetAddress } from "effect/net"

/** One entry of X-Forwarded-For: an address, with a port in some proxies, in brackets for IPv6 with a port; null for anything else. */
const addressIn = (entry: string): NetAddress.IpAddress | null => {
  const text = entry.trim().replace(/^"(.*)"$/, "$1")
  const ip = NetAddress.ipFromString(text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text)
  if (Result.isSuccess(ip)) return NetAddress.toCanonical(ip.success)
  const socket = NetAddress.inetAddressFromString(text)
  return Result.isSuccess(socket) ? NetAddress.toCanonical(socket.success.address) : null
}

/** One customer usually has a whole IPv6 network of 64 bits, so its addresses count as one. */
const groupOf = (address: NetAddress.IpAddress): string =>
  NetAddress.isIpv6Address(address)
    ? `${NetAddress.ipv6ToSegments(address)
        .slice(0, 4)
        .map((segment) => segment.toString(16))
        .join(":")}::/64`
    : NetAddress.formatIp(address)

/**
 * The address that `forwardedFor` names behind `hops` trusted proxies. An entry that is no address makes the next one to the right
 * count, which a trusted proxy has written; the connection's own address when there is none. Empty when nothing is known.
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

/** Who is at the other end of a request's connection. */
export interface PeersShape {
  /** Null when nobody knows. */
  readonly of: (request: Request) => string | null
}

/** The server knows it of every request that came over its socket. */
export const Peers = Context.Reference<PeersShape>("rungate/http/middleware/Peers", {
  defaultValue: () => ({ of: () => null })
})
