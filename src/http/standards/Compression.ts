/**
 * Compresses large answers, for clients that accept it: brotli before gzip.
 *
 * A compressed length tells a little about the text (BREACH). So nothing is compressed that has a secret in it beside what somebody else
 * may have chosen: no answer to a browser's session, which another site might make the browser ask for, and none of the operations that
 * return credentials. Answers below a kilobyte and a half, which fit in one packet, streams and what is encoded already stay as they are,
 * so an ordinary run costs one comparison.
 */
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"

/** Bytes. Below it compression saves no packet. */
export const compressedFrom = 1_400

/** These make, change or show credentials, or act for a person. */
const secretPaths =
  /^\/v1\/(auth|api-keys|configuration|webhook-endpoints|provider-accounts|browser|operator|invitations|oauth)(\/|$)|^\/oauth/

const texts =
  /^(application\/(problem\+|jwk-set\+)?json|application\/x-ndjson|text\/(html|csv|plain|markdown|javascript))\b/
/** A page may hold a token of its form, so a page is compressed only if it is the same for everybody. */
const isPrivatePage = (type: string, cacheControl: string | undefined) =>
  type.startsWith("text/html") && !(cacheControl ?? "").startsWith("public")

export type Coding = "br" | "gzip"

/** The best coding that the client takes. `q=0` refuses one. Null for none. */
export const codingFor = (accepts: string | null | undefined): Coding | null => {
  if (accepts === null || accepts === undefined) return null
  const offered = accepts.toLowerCase().split(",")
  const takes = (name: string) =>
    offered.some((one) => {
      const [coding = "", ...parameters] = one.split(";").map((part) => part.trim())
      return coding === name && !parameters.some((part) => /^q=0(\.0*)?$/.test(part))
    })
  if (takes("br")) return "br"
  return takes("gzip") ? "gzip" : null
}

/** Fast rather than small: the text is compressed once for each answer. */
const brotliQuality = 4
const compress: Readonly<Record<Coding, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength }
    }),
  gzip: (bytes) => promisify(gzip)(bytes)
}

/** Compressed forms of bodies that the process answers again and again, such as the OpenAPI document. */
const kept = new WeakMap<Uint8Array, Map<Coding, Promise<Uint8Array>>>()
const compressed = (bytes: Uint8Array, coding: Coding): Promise<Uint8Array> => {
  const forms = kept.get(bytes) ?? new Map<Coding, Promise<Uint8Array>>()
  kept.set(bytes, forms)
  const form = forms.get(coding) ?? compress[coding](bytes)
  forms.set(coding, form)
  return form
}

/** What compression depends on. */
export interface Negotiation {
  /** The path, perhaps with a query. */
  readonly path: string
  readonly acceptEncoding: string | null | undefined
  /** Whether the request has a cookie. */
  readonly cookie: boolean
}

const varied = (vary: string | undefined) =>
  vary === undefined ? "accept-encoding" : /accept-encoding/i.test(vary) ? vary : `${vary}, accept-encoding`

/** Whether `encoded` would do anything. */
export const isCompressible = (
  { path, acceptEncoding, cookie }: Negotiation,
  { body, headers }: HttpServerResponse.HttpServerResponse
): boolean => {
  if (body._tag !== "Uint8Array" || body.body.byteLength < compressedFrom) return false
  if (cookie || secretPaths.test(path) || codingFor(acceptEncoding) === null) return false
  return (
    headers["content-encoding"] === undefined &&
    texts.test(body.contentType) &&
    !isPrivatePage(body.contentType, headers["cache-control"])
  )
}

/** The answer, compressed if the client takes it and it is worth it. */
export const encoded = (
  negotiation: Negotiation,
  response: HttpServerResponse.HttpServerResponse
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const { body } = response
  const coding = codingFor(negotiation.acceptEncoding)
  if (body._tag !== "Uint8Array" || coding === null || !isCompressible(negotiation, response))
    return Effect.succeed(response)
  return Effect.map(
    Effect.promise(() => compressed(body.body, coding)),
    (bytes) => {
      const { "content-length": _length, "content-type": _type, vary, ...headers } = response.headers
      return HttpServerResponse.uint8Array(bytes, {
        status: response.status,
        contentType: body.contentType,
        cookies: response.cookies,
        headers: { ...headers, "content-encoding": coding, vary: varied(vary) }
      })
    }
  )
}
