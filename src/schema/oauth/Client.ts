/**
 * Clients of the authorization server: what they register or publish, and the id that they have. Pure.
 *
 * An id that is an https URL names a document with the client's data (draft-ietf-oauth-client-id-metadata-document). Another id is the registration itself (RFC 7591, appendix A.5.2), so a registration stores nothing: strangers may register as often as they
 * like, and an id never expires. An id proves nothing about its client. So the consent page shows the name and where the answer goes.
 */
import { Option, Schema } from "effect"

export interface Client {
  readonly client_name: string
  readonly redirect_uris: ReadonlyArray<string>
  /** A program on the person's machine may listen at any port (RFC 8252, 7.3). Absent for a client that registered the very address. */
  readonly any_port?: true
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

/** The address of a client's document. Null for an id that is none, or not in the form in which it is compared. */
export const documentUrl = (client_id: string): URL | null => {
  if (client_id.length > uriCharsMax || !client_id.startsWith("https://") || !URL.canParse(client_id)) return null
  const url = new URL(client_id)
  const { href, username, password, pathname } = url
  // A URL parser removes dot segments and an empty fragment, so such an id is not the URL's own text.
  return href === client_id && !client_id.includes("#") && username === "" && password === "" && pathname !== "/"
    ? url
    : null
}

/** Whether a client may have this id. Its document is read when a person is asked, and a code is bound to the id. */
export const isClientId = (client_id: string): boolean =>
  clientOf(client_id) !== null || documentUrl(client_id) !== null

/** Other members, such as addresses of logos, are ignored: nothing here shows them. */
const Document = Schema.fromJsonString(
  Schema.Struct({
    client_id: Schema.String,
    client_name: Schema.optionalKey(Schema.String),
    redirect_uris: Schema.Array(Schema.String).check(Schema.isMinLength(1), Schema.isMaxLength(100)),
    token_endpoint_auth_method: Schema.optionalKey(Schema.Literal("none"))
  })
)
const decodeDocument = Schema.decodeUnknownOption(Document)

/**
 * The client that a document describes. Null if the document names another id, or the client has no redirect URI that is allowed here.
 * Desktop programs also list addresses of their own schemes, which are left out.
 */
export const clientIn = (client_id: string, text: string): Client | null => {
  const url = documentUrl(client_id)
  const document = Option.getOrNull(decodeDocument(text))
  if (url === null || document?.client_id !== client_id) return null
  const redirect_uris = document.redirect_uris.filter((uri) => redirectProblem(uri) === null)
  if (redirect_uris.length === 0) return null
  // The name is the client's own word. The host is where the document came from, which nobody else can claim.
  const name = shownName(document.client_name ?? "")
  return { client_name: name === "" ? url.host : `${name} (${url.host})`, redirect_uris, any_port: true }
}

const withoutPort = (uri: string): string => {
  const url = new URL(uri)
  url.port = ""
  return url.href
}

/** Whether the client may have its answer there. The comparison is exact, but for the port on the person's own machine. */
export const mayRedirect = ({ redirect_uris, any_port }: Client, uri: string): boolean =>
  redirect_uris.includes(uri) ||
  (any_port === true &&
    redirectProblem(uri) === null &&
    isLoopback(uri) &&
    redirect_uris.some((one) => isLoopback(one) && withoutPort(one) === withoutPort(uri)))
