/**
 * Clients of the authorization server: what they register, and the id that they get. Pure.
 *
 * The id is the registration itself (RFC 7591, appendix A.5.2), so a registration stores nothing: strangers may register as often as they
 * like, and an id never expires. An id proves nothing about its client. So the consent page shows the name and where the answer goes.
 */
import { Option, Schema } from "effect"

export interface Client {
  readonly client_name: string
  readonly redirect_uris: ReadonlyArray<string>
}

const nameCharsMax = 100
const uriCharsMax = 500
export const urisMax = 5
/** Fits into the address of the consent page. */
const idCharsMax = 3_000
const prefix = "rgc_"

/** A name as text: without control and format characters, which could hide or turn around what stands beside it. */
export const shownName = (given: string): string =>
  [
    ...given
      .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, " ")
      .replace(/\s+/g, " ")
      .trim()
  ]
    .slice(0, nameCharsMax)
    .join("")
    .trim()

const loopbacks: ReadonlyArray<string> = ["localhost", "127.0.0.1", "[::1]"]

/** Whether a redirect URI leads to a program on the person's own machine. */
export const isLoopback = (uri: string): boolean => loopbacks.includes(new URL(uri).hostname)

/** Why a redirect URI is refused. Null if it is allowed. */
export const redirectProblem = (uri: string): string | null => {
  if (uri.length > uriCharsMax) return `is longer than ${uriCharsMax} characters`
  // A URL parser would drop or correct other characters, and the comparison is exact.
  if (!/^[\x21-\x7e]+$/.test(uri) || uri.includes("\\") || !URL.canParse(uri)) return "is not a URL"
  const { protocol, username, password } = new URL(uri)
  if (uri.includes("#")) return "must not have a fragment"
  if (username !== "" || password !== "") return "must not have a user name"
  if (protocol === "https:") return null
  return protocol === "http:" && isLoopback(uri) ? null : "must be https, or http at localhost, 127.0.0.1 or [::1]"
}

const Registered = Schema.fromJsonString(Schema.Array(Schema.String))
const decodeRegistered = Schema.decodeUnknownOption(Registered)

export const clientId = ({ client_name, redirect_uris }: Client): string =>
  `${prefix}${Buffer.from(JSON.stringify([client_name, ...redirect_uris])).toString("base64url")}`

/** The client of an id. Null if no registration gives this id. */
export const clientOf = (client_id: string): Client | null => {
  if (!client_id.startsWith(prefix) || client_id.length > idCharsMax) return null
  const decoded = decodeRegistered(Buffer.from(client_id.slice(prefix.length), "base64url").toString("utf8"))
  if (Option.isNone(decoded)) return null
  const [client_name, ...redirect_uris] = decoded.value
  if (client_name === undefined || client_name === "" || client_name !== shownName(client_name)) return null
  if (redirect_uris.length === 0 || redirect_uris.length > urisMax) return null
  if (redirect_uris.some((uri) => redirectProblem(uri) !== null)) return null
  const client = { client_name, redirect_uris }
  return clientId(client) === client_id ? client : null
}
