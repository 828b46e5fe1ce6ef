/**
 * `bun test/bench/discover-http.ts [program …]`: discover over HTTP on 50,000 entries, without and with an import under way.
 *
 * Imports are provider documents of 5,000 endpoints, one every few seconds, and each makes the service rebuild its whole index. One client asks,
 * one request after the other. Programs (dist/service/rungate.js, that of another version) take turns.
 */
import { Client } from "pg"
import { pack } from "../../src/layers/catalog/import/pack.ts"
import type { Endpoint, ProviderDocument } from "../../src/schema/catalog/Endpoint.ts"
import type { SearchDocument } from "../../src/layers/search/Document.ts"
import { catalogDocuments } from "../layers/search/corpus.ts"
import { synthetic, syntheticQueries } from "./corpus.ts"
import { cpuSeconds } from "./machine.ts"
import { newDatabase, openStage, program, start } from "./stage.ts"

const entries = 50_000
const perProvider = 5_000
const asked = 3_000
const rounds = 3
/** A service looks for imports every five seconds. */
const importMillis = 2_500

const endpointOf = (document: SearchDocument, n: number): Endpoint => ({
  method: "POST",
  path: `/${n}/${document.slug}`,
  title: document.title,
  description: document.description,
  tags: [...document.tags],
  body_type: "json",
  path_params: { type: "object", properties: {} },
  query_params: { type: "object", properties: {} },
  body: {
    type: "object",
    properties: { url: { type: "string", description: "What to read" }, limit: { type: "integer" } }
  },
  encoding: "json",
  example: { input: { url: "https://example.com" } },
  cost: { model: "per_call", estimate: "0.01", note: null },
  cap_min: null,
  reported: null,
  deprecated: false
})

const made = synthetic(catalogDocuments(), entries)
const documents = Array.from(
  { length: entries / perProvider },
  (_, n): ProviderDocument => ({
    provider: `made${n}`,
    title: `Made ${n}`,
    homepage: null,
    base_url: `https://made${n}.example`,
    auth: { kind: "bearer" },
    source: [],
    definitions: {},
    endpoints: made.slice(n * perProvider, (n + 1) * perProvider).map((one, at) => endpointOf(one, at))
  })
)
const packed = documents.map((document) => ({ provider: document.provider, bytes: Buffer.from(pack(document)) }))
const queries = syntheticQueries(made, asked)

const stage = await openStage()
const DATABASE_URL = await newDatabase(stage)
const client = new Client({ connectionString: DATABASE_URL })
await client.connect()
const importOne = async (n: number) => {
  const { provider, bytes } = packed[n % packed.length] ?? { provider: "", bytes: Buffer.of() }
  await client.query(
    `INSERT INTO catalog_documents (provider, document, endpoints) VALUES ($1, $2, ${perProvider})
     ON CONFLICT (provider) DO UPDATE SET document = excluded.document, revision = excluded.revision`,
    [provider, bytes]
  )
}

const serviceOf = async (path: string) => {
  const running = await start([path, "serve"], { DATABASE_URL, PORT: "0", RUNGATE_RATE_LIMIT: "0" })
  const ask = async (query: string) => {
    const response = await fetch(`${running.url}/v1/discover`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query, limit: 10 })
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(text)
    const { items }: { items: ReadonlyArray<unknown> } = JSON.parse(text)
    return items.length
  }
  return { ...running, ask }
}

const [first = await program(), ...others] = process.argv.slice(2)
const migrating = await start([first, "serve"], { DATABASE_URL, PORT: "0" })
await migrating.stop()
for (const n of packed.keys()) await importOne(n)
const programs = [first, ...others].map((path) => ({ path, idle: new Array<number>(), busy: new Array<number>() }))

const measure = async (ask: (query: string) => Promise<number>, into: Array<number>) => {
  for (const query of queries) {
    const sent = performance.now()
    await ask(query)
    into.push(performance.now() - sent)
  }
}
let imports = 0
for (let round = 0; round < rounds; round++) {
  for (const { path, idle, busy } of programs) {
    // One at a time: an import makes every running service rebuild its index.
    const { ask, pid, stop } = await serviceOf(path)
    // The first question waits for the index; the others compile the code.
    for (const query of queries.slice(0, 500)) await ask(query)
    await measure(ask, idle)
    const began = performance.now()
    const timer = setInterval(() => void importOne(imports++), importMillis)
    const spent = cpuSeconds([pid])
    while (performance.now() - began < 6 * importMillis) await measure(ask, busy)
    clearInterval(timer)
    process.stderr.write(`    ${path}: ${(cpuSeconds([pid]) - spent).toFixed(1)} s of CPU while importing\n`)
    await stop()
  }
}
const at = (of: ReadonlyArray<number>, share: number) =>
  (of.toSorted((a, b) => a - b)[Math.min(of.length - 1, Math.floor(of.length * share))] ?? 0).toFixed(2)
for (const { path, idle, busy } of programs) {
  for (const [name, times] of [
    ["quiet", idle],
    ["while importing", busy]
  ] as const) {
    console.log(
      `${path}, ${name}: p50 ${at(times, 0.5)} ms, p99 ${at(times, 0.99)} ms, most ${at(times, 1)} ms (${times.length} questions)`
    )
  }
}
process.exit(0)
