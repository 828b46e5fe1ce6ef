/** Moves an organization between two services of a test, as `rungate admin cells move` does. */
import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { moveOrganization } from "../../src/layers/cells/moveOrganization.ts"
import { MoveRefused } from "../../src/layers/cells/MoveRefused.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { DatabaseLayer } from "../../src/layers/postgres/Database.ts"
import type { App } from "./app.ts"

/** A client that is open as long as the scope. */
export const clientOf = (app: App) =>
  Effect.flatMap(
    Layer.build(DatabaseLayer.pipe(Layer.provide(Settings.layerFrom({ DATABASE_URL: app.databaseUrl })))),
    (context) => Effect.provideContext(SqlClient.SqlClient, context)
  )

/** Moves between two apps. Gives the reason of a refusal, or what was copied. */
export const move = (
  org_id: string,
  here: App,
  there: App,
  { seconds = 60, signal }: { readonly seconds?: number; readonly signal?: AbortSignal } = {}
) =>
  Effect.gen(function* () {
    const [source, target] = yield* Effect.all([clientOf(here), clientOf(there)])
    return yield* moveOrganization({
      org_id,
      source,
      target,
      from: "one",
      to: "two",
      patience: Duration.seconds(seconds),
      announce: () => Effect.void
    })
  }).pipe(
    Effect.catchIf(
      (error) => error instanceof MoveRefused,
      ({ message }) => Effect.succeed(message)
    ),
    Effect.scoped,
    (moving) => Effect.runPromise(moving, signal === undefined ? {} : { signal })
  )
