/**
 * Where webhooks may be sent: https URLs whose host has public addresses.
 *
 * An endpoint's URL is written by a customer, so the service must not reach its own network through it. The URL is checked when it is
 * stored, and each address is checked when a connection is made, because a name can get another address at any time.
 */
import ipaddr from "ipaddr.js"

export type CheckedUrl =
  | { readonly _tag: "Accepted"; readonly url: string }
  | { readonly _tag: "Refused"; readonly message: string }

const lengthMax = 2_000

const addressOf = (hostname: string): string => hostname.replace(/^\[|\]$/g, "")

const range = (text: string) => ipaddr.parseCIDR(text)
/** Beside what `ipaddr.js` knows: all IPv6 addresses that are given to hosts are in 2000::/3. */
const ranges = {
  // Documentation (RFC 9637), and the agent of Azure, which each virtual machine reaches.
  special: [range("3fff::/20"), range("168.63.129.16/32")],
  public: [range("2000::/3"), range("0.0.0.0/0")]
}

/** Whether an address belongs to the public internet. Addresses that embed or translate another one are not public. */
export const isPublicAddress = (text: string): boolean => {
  // ipaddr.js takes ::8.8.8.8 for ::ffff:8.8.8.8. A URL has the one form that each address has without dots.
  const url = text.includes(":") ? `http://[${text}]` : null
  const plain = url === null ? text : URL.canParse(url) ? addressOf(new URL(url).hostname) : ""
  if (!ipaddr.isValid(plain)) return false
  const address = ipaddr.process(plain)
  return address.range() === "unicast" && ipaddr.subnetMatch(address, ranges, "other") === "public"
}

const refused = (message: string): CheckedUrl => ({ _tag: "Refused", message })

/** `allowPrivate` is a setting: then http and private addresses are accepted too. */
export const webhookUrl = (text: string, allowPrivate: boolean): CheckedUrl => {
  if (text.length > lengthMax) return refused(`must have at most ${lengthMax} characters`)
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null) return refused("must be a URL, such as https://example.com/webhooks")
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:"))
    return refused("must begin with https://")
  if (url.username !== "" || url.password !== "") return refused("must not contain a user name or password")
  if (url.hash !== "") return refused("must not contain a fragment (#)")
  const host = addressOf(url.hostname)
  if (allowPrivate) return { _tag: "Accepted", url: url.href }
  if (ipaddr.isValid(host)) return isPublicAddress(host) ? { _tag: "Accepted", url: url.href } : refused(privateAddress)
  if (!host.includes(".") || /(^|\.)(localhost|local|internal|home\.arpa)\.?$/i.test(host))
    return refused(privateAddress)
  return { _tag: "Accepted", url: url.href }
}

const privateAddress = "must have a public address: this one belongs to a private network"
