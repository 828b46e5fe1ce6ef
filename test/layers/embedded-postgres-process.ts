/**
 * A process that uses the embedded database until its standard input closes: what the tests start, kill and orphan.
 *
 * Arguments: the data directory, and where the module under test is. It prints one JSON line when the database answers.
 */
import { Cause, Effect, Exit, Redacted } from "effect"
import type * as module from "../../src/layers/postgres/embedded/EmbeddedPostgres.ts"

const [dataDir = "", path = "../../src/layers/postgres/embedded/EmbeddedPostgres.ts"] = process.argv.slice(2)
const { embeddedPostgres }: typeof module = await import(path)
const stdinClosed = Effect.promise(() => new Response(Bun.stdin.stream()).text())

const exit = await Effect.runPromiseExit(
  Effect.scoped(
    Effect.gen(function* () {
      const settings = { fsync: "off" }
      const { url, cluster, began } = yield* embeddedPostgres({ dataDir, onProgress: () => Effect.void, settings })
      console.log(JSON.stringify({ url: Redacted.value(url), cluster, began }))
      yield* stdinClosed
    })
  )
)
if (Exit.isFailure(exit)) console.log(JSON.stringify({ failure: String(Cause.squash(exit.cause)) }))
process.exit(0)
