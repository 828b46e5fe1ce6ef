/**
 * Handler of `rungate admin move`: copies the embedded database to a PostgreSQL server, and audits the books of both. Loaded on demand.
 */
import { Console, Effect, Layer, Redacted, References } from "effect"
import { consent } from "../cli/terminal/consent.ts"
import { bad, failedWith } from "../cli/terminal/exits.ts"
import type { FlagsOf } from "../cli/terminal/flags.ts"
import type { moveFlags } from "./flags.ts"
import { messageOf } from "../operator/output.ts"
import { Audit } from "../../layers/audit/Audit.ts"
import { processEnvironment, Settings } from "../../layers/platform/Settings.ts"
import { placeOf } from "../../layers/postgres/connection/DatabaseUrl.ts"
import { embeddedPostgres } from "../../layers/postgres/embedded/EmbeddedPostgres.ts"
import { copyTables, isEmpty } from "../../layers/postgres/embedded/move/copyTables.ts"
import { Storage } from "../../layers/Storage.ts"

/** The stores of another database, with the other settings as they are. */
const storageOf = (url: string) =>
  Storage.pipe(
    Layer.provide(
      Settings.layerFrom({ ...processEnvironment()().variables, DATABASE_URL: url, RUNGATE_DATABASE_CHECKS: "warn" })
    )
  )

/** Migrates the database if it is new. */
const audited = (url: string) =>
  Effect.gen(function* () {
    return yield* (yield* Audit).run
  }).pipe(Effect.provide(storageOf(url)))

const sheetText = (sheet: object) =>
  Object.entries(sheet)
    .map(([name, amount]) => `${name} ${String(amount)}`)
    .join("\n")

export const move = ({ to, yes }: FlagsOf<typeof moveFlags>) =>
  Effect.gen(function* () {
    const { databaseSchema, databaseUrl, dataDir } = yield* Settings
    if (databaseUrl !== null)
      return yield* bad(
        "DATABASE_URL is set, so the service does not use the embedded database. Unset it for this command."
      )
    if (!/^postgres(ql)?:\/\//.test(to) || !URL.canParse(to))
      return yield* bad("--to must be an address such as postgres://user:password@host:5432/rungate")
    const place = placeOf(Redacted.make(to))
    const empty = yield* Effect.tryPromise({
      try: () => isEmpty(to, databaseSchema),
      catch: (cause) => failedWith(`Can't use the database at ${place}: ${messageOf(cause)}.`)
    })
    if (!empty) return yield* bad(`The database at ${place} has tables. Give an empty one. Nothing was changed.`)
    const { began, url } = yield* embeddedPostgres({ dataDir, onProgress: (line) => Console.error(`${line} …`) })
    if (began === "attached")
      return yield* failedWith("The service runs on this data directory. Stop it, then try again. Nothing was changed.")
    yield* consent(`Copy the embedded database to ${place}?`, { yes })
    const from = Redacted.value(url)
    const before = yield* audited(from)
    if (before.violations.length > 0)
      return yield* failedWith(
        "The books of the embedded database do not add up, so nothing was moved. See: rungate audit"
      )
    // Makes the tables.
    yield* audited(to)
    const { rows, tables } = yield* Effect.tryPromise({
      try: () => copyTables(from, to, databaseSchema),
      catch: (cause) =>
        failedWith(`No row was copied to ${place}: ${messageOf(cause)}. Drop its tables before the next attempt.`)
    })
    const after = yield* audited(to)
    if (after.violations.length > 0 || sheetText(after.sheet) !== sheetText(before.sheet))
      return yield* failedWith(
        `The books at ${place} differ from those of the embedded database. Keep using the embedded one, and report this.`
      )
    yield* Console.log(
      `Copied ${rows} rows of ${tables} tables to ${place}. The books of both add up and are equal: ${after.wallets} wallets, ${after.entries} ledger entries, ${after.runs} runs.`
    )
    yield* Console.log(
      `Next: set DATABASE_URL to this address for every process, then start the service. The embedded database stays in ${dataDir}; don't start a service on it again.`
    )
  }).pipe(Effect.scoped, Effect.provideService(References.LogToStderr, true))
