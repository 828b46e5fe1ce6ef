/**
 * A provider's document as it is shipped and stored: gzipped lines of JSON, the head first, then an endpoint per line.
 *
 * Lines, so that a document of any size is read without holding up the event loop, and shows small changes as such.
 */
import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import { Effect, Schema } from "effect"
import { Endpoint, ProviderDocument } from "../../../schema/catalog/Endpoint.ts"

const decodeHead = Schema.decodeUnknownSync(Schema.fromJsonString(ProviderDocument))
const decodeEndpoint = Schema.decodeUnknownSync(Schema.fromJsonString(Endpoint))
const inflate = promisify(gunzip)

/** Endpoints decoded before others have a turn: a few milliseconds. */
const sliceMax = 50

/** The same document always gives the same bytes. */
export const pack = (document: ProviderDocument): Uint8Array => {
  const { endpoints, ...head } = document
  const lines = [{ ...head, endpoints: [] }, ...endpoints].map((one) => JSON.stringify(one))
  const bytes = Bun.gzipSync(new TextEncoder().encode(lines.join("\n")), { level: 9 })
  // The header says which system wrote it (byte 9): the only thing that differs between machines.
  bytes[9] = 255
  return bytes
}

export const unpack = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const text = (yield* Effect.promise(() => inflate(bytes))).toString("utf8")
  const [head = "", ...lines] = text.split("\n")
  const endpoints: Array<Endpoint> = []
  for (const [index, line] of lines.entries()) {
    endpoints.push(decodeEndpoint(line))
    if (index % sliceMax === sliceMax - 1) yield* Effect.sleep(0)
  }
  return { ...decodeHead(head), endpoints } satisfies ProviderDocument
})
