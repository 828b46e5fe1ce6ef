/**
 * Serves the web console and the docs: one page for all addresses of the console, the pages of the docs, and their files with hashed names.
 *
 * Everything is read once and kept in memory with its compressed forms. So a request costs a look-up, and a flood of them no more than that.
 * The page forbids inline scripts and styles, other origins, and frames. Without a built console (scripts/console.ts) every address answers
 * as if there were none.
 */
import { existsSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"
import { Effect, Schema } from "effect"
import { newId } from "../../layers/platform/Ids.ts"
import { packageFolder } from "../../layers/platform/packageFolder.ts"
import { codingFor } from "../standards/Compression.ts"
import { isRoutePath } from "../middleware/NotFound.ts"
import { etagOf, hasTag } from "../standards/ETags.ts"
import { fileHeaders, pageHeaders } from "./PageHeaders.ts"

const Manifest = Schema.fromJsonString(
  Schema.Struct({
    assets: Schema.Array(Schema.String),
    routes: Schema.Array(Schema.String),
    docs: Schema.Record(Schema.String, Schema.String)
  })
)

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".html": "text/html; charset=utf-8"
}

const shellHeaders = {
  ...pageHeaders({ "require-trusted-types-for": "'script'", "trusted-types": "'none'" }),
  // At `/` a program gets another page.
  vary: "accept, accept-encoding",
  // A browser asks again each time, and gets 304 unless the service has a newer console.
  "cache-control": "no-cache"
}
const assetHeaders = {
  ...fileHeaders,
  "referrer-policy": "no-referrer",
  vary: "accept-encoding",
  "cache-control": "public, max-age=31536000, immutable"
}

const encodings = ["br", "gz", ""] as const
type Encoding = (typeof encodings)[number]
const codings: Readonly<Record<Encoding, string | null>> = { br: "br", gz: "gzip", "": null }

interface Kept {
  readonly headers: Readonly<Record<string, string>>
  readonly etag: string
  readonly bodies: Readonly<Record<Encoding, Uint8Array<ArrayBuffer>>>
}

const encodingFor = (accepts: string | null): Encoding => {
  const coding = codingFor(accepts)
  return coding === "gzip" ? "gz" : (coding ?? "")
}

const answer = ({ headers, etag, bodies }: Kept, request: Request, status = 200): Response => {
  const encoding = encodingFor(request.headers.get("accept-encoding"))
  const coding = codings[encoding]
  const all = { ...headers, etag, "x-request-id": newId("req") }
  if (status === 200 && hasTag(request.headers.get("if-none-match"), etag))
    return new Response(null, { status: 304, headers: all })
  const body = bodies[encoding]
  const encoded = coding === null ? {} : { "content-encoding": coding }
  return new Response(request.method === "HEAD" ? null : body, {
    status,
    headers: { ...all, ...encoded, "content-length": String(body.byteLength) }
  })
}

const read = (folder: string, name: string, headers: Readonly<Record<string, string>>): Kept => {
  const body = (encoding: Encoding) =>
    new Uint8Array(readFileSync(join(folder, encoding === "" ? name : `${name}.${encoding}`)))
  const bodies = { br: body("br"), gz: body("gz"), "": body("") }
  const type = types[extname(name)] ?? "application/octet-stream"
  return { headers: { ...headers, "content-type": type }, etag: etagOf(bodies[""]), bodies }
}

const prefix = "/console/"
/** A program that asks for the page at `/`, such as curl, gets the short one (Home.ts). */
const wantsPage = (request: Request) => (request.headers.get("accept") ?? "").includes("text/html")

const isPage = ({ headers }: Response) => (headers.get("content-type") ?? "").includes("text/html")

const pathOf = (url: string) => {
  const start = url.indexOf("/", url.indexOf("//") + 2)
  const end = url.indexOf("?", start)
  return start < 0 ? "/" : url.slice(start, end < 0 ? undefined : end)
}

export interface ConsoleDoor {
  /** Answers a request to the console. Null for any other one. */
  readonly page: (request: Request) => Response | null
  /** The answer to a person who followed a wrong address: the console's page says so, and leads on. */
  readonly orMissing: (request: Request, answered: Promise<Response>) => Promise<Response>
}

const closed: ConsoleDoor = { page: () => null, orMissing: (_request, answered) => answered }

/** Where programs ask, and people who try what programs get. */
const ofApi = /^\/v1(\/|$)/

export const consoleDoor = (folder = join(packageFolder, "dist", "console")): Effect.Effect<ConsoleDoor> =>
  Effect.gen(function* () {
    const manifestFile = join(folder, "manifest.json")
    if (!existsSync(manifestFile)) return closed
    const manifest = yield* Schema.decodeUnknownEffect(Manifest)(readFileSync(manifestFile, "utf8"))
    const shell = read(folder, "shell.html", shellHeaders)
    const assets = new Map(manifest.assets.map((name) => [`${prefix}${name}`, read(folder, name, assetHeaders)]))
    const docs = new Map(Object.entries(manifest.docs).map(([path, name]) => [path, read(folder, name, shellHeaders)]))
    const routes = manifest.routes.map((route) => new RegExp(route))
    const isRead = ({ method }: Request) => method === "GET" || method === "HEAD"
    return {
      page: (request) => {
        if (!isRead(request)) return null
        const path = pathOf(request.url)
        const asset = assets.get(path)
        if (asset !== undefined) return answer(asset, request)
        if (!wantsPage(request)) return null
        const kept = docs.get(path) ?? (routes.some((route) => route.test(path)) ? shell : undefined)
        return kept === undefined ? null : answer(kept, request)
      },
      orMissing: (request, answered) => {
        const path = pathOf(request.url)
        if (!isRead(request) || !wantsPage(request) || ofApi.test(path) || isRoutePath(path)) return answered
        return answered.then((one) => (one.status === 404 && !isPage(one) ? answer(shell, request, 404) : one))
      }
    } satisfies ConsoleDoor
  }).pipe(
    // A console that is just being built, or was built by another version.
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logWarning("The web console can't be read; build it with: bun scripts/console.ts", cause),
        closed
      )
    )
  )
