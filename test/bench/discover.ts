/**
 * What discover's search costs: build time, memory, the longest stall of the event loop while it builds, and time per query,
 * over catalogs of 50,000 and 200,000 entries; MiniSearch beside it in the same run; then how relevant the answers are.
 *
 *   bun run bench:discover            (--quick: 50,000 entries only)
 *
 * Every measurement runs in a process of its own, so that memory and the compiler's warmth are its own too.
 */
import { Effect } from "effect"
import MiniSearch from "minisearch"
import type { SearchDocument } from "../../src/layers/search/Document.ts"
import { buildIndex, search } from "../../src/layers/search/Index.ts"
import { catalogDocuments } from "../layers/search/corpus.ts"
import { synthetic, syntheticQueries } from "./corpus.ts"
import { ourRelevance } from "./relevance.ts"

const queriesAsked = 1_000
/** Of a library that takes a hundred times as long. */
const queriesAskedOfOthers = 100
/** On a machine that does other things, the best of a query's rounds is what the search itself takes. */
const rounds = 3
const limit = 10

interface Figures {
  readonly name: string
  readonly documents: number
  readonly build: number
  readonly memory: number
  readonly stall: number
  readonly p50: number
  readonly p99: number
  /** p99 over each query's best round. */
  readonly quiet: number
  readonly found: number
}

/** The longest time between two turns of the event loop, until stopped. */
const stallMeter = () => {
  let longest = 0
  let last = performance.now()
  let running = true
  const tick = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (running) setImmediate(tick)
  }
  setImmediate(tick)
  return () => {
    running = false
    return Math.max(longest, performance.now() - last)
  }
}

const memoryMb = () => {
  Bun.gc(true)
  return process.memoryUsage().rss / 2 ** 20
}

const measure = async (
  name: string,
  documents: ReadonlyArray<SearchDocument>,
  build: () => Promise<(query: string) => number>,
  asked = queriesAsked
): Promise<Figures> => {
  const queries = syntheticQueries(documents, asked)
  const before = memoryMb()
  const stop = stallMeter()
  const started = performance.now()
  const find = await build()
  const built = performance.now() - started
  const stall = stop()
  const memory = memoryMb() - before
  for (const query of queries.slice(0, asked / 10)) find(query)
  let found = 0
  const times: Array<number> = []
  const quickest = queries.map(() => Infinity)
  for (let round = 0; round < rounds; round += 1) {
    process.stderr.write(`    round ${round + 1} of ${rounds}: ${queries.length} queries\n`)
    for (const [nth, query] of queries.entries()) {
      const started = performance.now()
      const hits = find(query)
      const took = performance.now() - started
      if (round === 0 && hits > 0) found += 1
      times.push(took)
      quickest[nth] = Math.min(quickest[nth] ?? took, took)
    }
  }
  const at = (of: ReadonlyArray<number>, share: number) =>
    of.toSorted((a, b) => a - b)[Math.min(of.length - 1, Math.floor(of.length * share))] ?? 0
  return {
    name,
    documents: documents.length,
    build: built,
    memory,
    stall,
    p50: at(times, 0.5),
    p99: at(times, 0.99),
    quiet: at(quickest, 0.99),
    found: found / queries.length
  }
}

const ours = (documents: ReadonlyArray<SearchDocument>) =>
  measure("ours", documents, async () => {
    const index = await Effect.runPromise(buildIndex(documents))
    return (query) => search(index, { query, limit }).length
  })

/** Options as its documentation shows them for prefix and fuzzy search. */
const mini = (documents: ReadonlyArray<SearchDocument>, expanding: boolean) =>
  measure(
    `MiniSearch${expanding ? ", prefix and fuzzy" : ""}`,
    documents,
    async () => {
      const index = new MiniSearch({
        fields: ["slug", "title", "tags", "providers", "description"],
        extractField: (document, field) => {
          const value = document[field]
          return Array.isArray(value) ? value.join(" ") : value
        },
        searchOptions: {
          boost: { slug: 4, title: 3, tags: 2, providers: 1.5 },
          ...(expanding ? { prefix: true, fuzzy: 0.2 } : {})
        }
      })
      await index.addAllAsync([...documents], { chunkSize: 100 })
      return (query) => index.search(query).slice(0, limit).length
    },
    queriesAskedOfOthers
  )

const engines: Readonly<Record<string, (documents: ReadonlyArray<SearchDocument>) => Promise<Figures>>> = {
  ours,
  mini: (documents) => mini(documents, false),
  "mini-expanding": (documents) => mini(documents, true)
}

const heading =
  "                                 entries   build ms   MB grown   stall ms    p50 ms    p99 ms  p99 of best   answered"

const line = (figures: Figures) =>
  [
    figures.name.padEnd(30),
    String(figures.documents).padStart(10),
    figures.build.toFixed(0).padStart(10),
    figures.memory.toFixed(0).padStart(10),
    figures.stall.toFixed(1).padStart(10),
    figures.p50.toFixed(3).padStart(9),
    figures.p99.toFixed(3).padStart(9),
    figures.quiet.toFixed(3).padStart(12),
    `${(100 * figures.found).toFixed(0)} %`.padStart(10)
  ].join(" ")

const child = async (engine: string, entries: number): Promise<Figures> => {
  process.stderr.write(`  ${engine}, ${entries.toLocaleString("en")} entries ...\n`)
  const running = Bun.spawn([process.execPath, import.meta.path, "--engine", engine, String(entries)], {
    stdout: "pipe",
    stderr: "inherit"
  })
  const text = await new Response(running.stdout).text()
  if ((await running.exited) !== 0) throw new Error(`${engine} over ${entries} entries failed`)
  return JSON.parse(text)
}

const engineAt = process.argv.indexOf("--engine")
if (engineAt >= 0) {
  const engine = engines[process.argv[engineAt + 1] ?? ""]
  if (engine === undefined) throw new Error("no such engine")
  const documents = synthetic(catalogDocuments(), Number(process.argv[engineAt + 2]))
  console.log(JSON.stringify(await engine(documents)))
} else {
  const sizes = process.argv.includes("--quick") ? [50_000] : [50_000, 200_000]
  console.log(
    `${queriesAsked.toLocaleString("en")} queries (MiniSearch: ${queriesAskedOfOthers}) of 1 to 7 words, some unfinished or misspelt, first ${limit}`
  )
  console.log(heading)
  for (const entries of sizes) {
    console.log(line(await child("ours", entries)))
    if (entries > 50_000) continue
    console.log(line(await child("mini", entries)))
    console.log(line(await child("mini-expanding", entries)))
  }
  console.log()
  for (const text of await ourRelevance()) console.log(text)
}
