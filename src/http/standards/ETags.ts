/**
 * ETags of what the process answers to everybody alike, and 304 for a client that has it already.
 *
 * The tags are weak: the compressed forms of a body have the same one.
 */
import { HttpServerResponse } from "effect/http"

export const etagOf = (content: string | Uint8Array) => `W/"${Bun.hash(content).toString(36)}"`

const bare = (tag: string) => tag.trim().replace(/^W\//, "")

/** Whether the header If-None-Match has the tag. */
export const hasTag = (ifNoneMatch: string | null | undefined, etag: string): boolean => {
  if (ifNoneMatch === null || ifNoneMatch === undefined) return false
  const tags = ifNoneMatch.split(",").map(bare)
  return tags.includes(bare(etag)) || tags.includes("*")
}

/** Documents that are the same for everybody until the service is upgraded. */
const isDocument = (path: string) =>
  path === "/openapi.json" || path === "/llms.txt" || path === "/docs" || path.startsWith("/docs/")
/** A client may keep one for this long, and asks then whether it has changed. */
const freshSeconds = 300

const tags = new WeakMap<Uint8Array, string>()
const tagOf = (bytes: Uint8Array): string => {
  const tag = tags.get(bytes) ?? etagOf(bytes)
  tags.set(bytes, tag)
  return tag
}

/** The answer to a GET with a tag, or 304. Only for the documents above. `url` begins with the path. */
export const tagged = (
  url: string,
  ifNoneMatch: string | undefined,
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  if (response.status !== 200 || response.body._tag !== "Uint8Array") return response
  if (!isDocument(url.split("?")[0] ?? "")) return response
  const etag = tagOf(response.body.body)
  const headers = {
    etag,
    "cache-control": `public, max-age=${freshSeconds}`,
    vary: "accept-encoding"
  }
  return hasTag(ifNoneMatch, etag)
    ? HttpServerResponse.empty({ status: 304, headers })
    : HttpServerResponse.setHeaders(response, headers)
}
