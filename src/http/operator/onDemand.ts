/** Handlers of commands are loaded with their command, so that every other one starts fast and needs none of their modules. */
import { Effect } from "effect"
import { failedWith } from "../cli/terminal/exits.ts"

type Load<A> = () => Promise<A>
type Use<A, B, E, R> = (loaded: A) => Effect.Effect<B, E, R>

/** Loads a module, and runs what `use` takes from it. */
export const onDemand =
  <A>(load: Load<A>) =>
  <B, E, R>(use: Use<A, B, E, R>) =>
    Effect.flatMap(Effect.promise(load), use)

/** The compiled file (scripts/compile.ts) runs in a virtual file system without other files. */
const compiled = /[$~]bun/i.test(import.meta.dir)

/** The same for a module that needs files of the package: PostgreSQL and the shipped catalog. */
export const packaged =
  <A>(load: Load<A>) =>
  <B, E, R>(use: Use<A, B, E, R>) =>
    Effect.flatMap(
      Effect.suspend(() =>
        compiled
          ? failedWith(
              "The compiled file contains no database and no catalog. Run this command from the package (npm start or npx rungate)."
            )
          : Effect.promise(load)
      ),
      use
    )
