/** `rungate admin cells`: the directory of the cells of a service. The handlers are loaded on demand. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { boolean } from "../cli/terminal/flags.ts"
import { json } from "./flags.ts"

const directory = Effect.promise(() => import("./cellDirectory.ts"))

const add = Command.make(
  "add",
  {
    url: Flag.String("url").pipe(
      Flag.withDescription("address at which the other cells reach this one, such as http://10.0.1.1:8787")
    ),
    full: boolean("full", "new e-mail addresses get their accounts in other cells"),
    json
  },
  ({ url, full, json }) => Effect.flatMap(directory, (loaded) => loaded.add(url, !full, json))
).pipe(
  Command.withDescription("Add this cell and its accounts to the directory; again after a change, or to repair it")
)

const list = Command.make("list", { json }, ({ json }) =>
  Effect.flatMap(directory, (loaded) => loaded.list(json))
).pipe(Command.withDescription("List the cells, and how many e-mail addresses have their account in each"))

const moved = Command.make("moved", {}, () => Effect.flatMap(directory, (loaded) => loaded.moved)).pipe(
  Command.withDescription("Print the router's map of organizations that have moved (moved.map)")
)

export const cellCommands = [add, list, moved] as const
