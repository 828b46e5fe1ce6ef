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

const linesOf = (bytes: Uint8Array) =>
  Effect.map(
    Effect.promise(() => inflate(bytes)),
    (text) => text.toString("utf8").split("\n")
  )

function* decoded(lines: ReadonlyArray<string>): Generator<void, ReadonlyArray<Endpoint>> {
  const endpoints: Array<Endpoint> = []
  for (const line of lines) {
    endpoints.push(decodeEndpoint(line))
    yield
  }
  return endpoints
}

export const unpack = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const [head = "", ...lines] = yield* linesOf(bytes)
  const endpoints = yield* inSlices(decoded(lines))
  return { ...decodeHead(head), endpoints } satisfies ProviderDocument
})

/** The type of a line of this package. `scripts/ship-catalog.ts` wrote it, and a test decodes each in full. */
const isShipped = (line: unknown): line is Endpoint => isRecord(line)

/** Unpacks a document of this package without decoding its endpoints, which would be a fifth of the service's start. */
export const unpackShipped = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const [head = "", ...lines] = yield* linesOf(bytes)
  const endpoints = lines.map((line): unknown => JSON.parse(line)).filter(isShipped)
  return { ...decodeHead(head), endpoints } satisfies ProviderDocument
})
