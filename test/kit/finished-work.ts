/** Waits for the workers that index and count finished runs. */
import { type App, until } from "./app.ts"

/** Before a test gives a run another id: the queues of history and usage name it by its id of today. */
export const indexedAndCounted = (app: App) =>
  until(
    "every finished run is indexed and counted",
    () =>
      app.sql(`SELECT (SELECT count(*) FROM history_queue)::int + (SELECT count(*) FROM usage_queue)::int AS waiting`),
    ([row]) => row?.["waiting"] === 0
  )
