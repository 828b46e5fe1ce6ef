/**
 * The shipped and stored format of a provider's document: gzipped JSON lines, first the head, then one endpoint per line.
 *
 * A large document is decoded line by line, so that it does not block the event loop. Packing is deterministic.
 */
import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import { Effect, Schema } from "effect"
import { Endpoint, ProviderDocument } from "../../../schema/catalog/Endpoint.ts"
import { inSlices } from "../../platform/inSlices.ts"
import { isRecord } from "../../../schema/json/Json.ts"

const decodeHead = Schema.decodeUnknownSync(Schema.fromJsonString(ProviderDocument))
const decodeEndpoint = Schema.decodeUnknownSync(Schema.fromJsonString(Endpoint))
const inflate = promisify(gunzip)

/** The same document always gives the same bytes. */
export const pack = (document: ProviderDocument): Uint8Array => {
  const { endpoints, ...head } = document
  const lines = [{ ...head, endpoints: [] }, ...endpoints].map((one) => JSON.stringify(one))
  const bytes = Bun.gzipSync(new TextEncoder().encode(lines.join("\n")), { level: 9 })
  // Byte 9 of the gzip header is the operating system, the only part that differs between machines.
  bytes[9] = 255
  return bytes
}

const inflated = (bytes: Uint8Array) => Effect.promise(() => inflate(bytes))

/** Making one string of a large document would stall the event loop, so each line becomes one when it is decoded. */
function* decoded(text: Buffer): Generator<void, ProviderDocument> {
  const endpoints: Array<Endpoint> = []
  let head: ProviderDocument | null = null
  for (let from = 0; from <= text.length; ) {
    const lineBreak = text.indexOf("\n", from)
    const end = lineBreak < 0 ? text.length : lineBreak
    const line = text.toString("utf8", from, end)
    if (head === null) head = decodeHead(line)
    else endpoints.push(decodeEndpoint(line))
    from = end + 1
    yield
  }
  return { ...(head ?? decodeHead("")), endpoints }
}

export const unpack = (bytes: Uint8Array) => Effect.flatMap(inflated(bytes), (text) => inSlices(decoded(text)))

/** The type of a line of this package. `scripts/ship-catalog.ts` wrote it, and a test decodes each in full. */
const isShipped = (line: unknown): line is Endpoint => isRecord(line)

/** Unpacks a document of this package without decoding its endpoints, which would be a fifth of the service's start. */
export const unpackShipped = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const [head = "", ...lines] = (yield* inflated(bytes)).toString("utf8").split("\n")
  const endpoints = lines.map((line): unknown => JSON.parse(line)).filter(isShipped)
  return { ...decodeHead(head), endpoints } satisfies ProviderDocument
})
