/** The database layer and its stores over a database of their own, for tests that need neither HTTP nor workers. */
import { Layer, ManagedRuntime } from "effect"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { Storage } from "../../src/layers/Storage.ts"
import { preparedDatabase } from "./postgres.ts"

export const startStorage = async () =>
  ManagedRuntime.make(Storage.pipe(Layer.provideMerge(Settings.layerFrom({ DATABASE_URL: await preparedDatabase() }))))

export type StorageRuntime = Awaited<ReturnType<typeof startStorage>>
