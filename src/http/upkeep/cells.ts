/** `rungate admin cells`: the directory of the cells of a service, and moves between them. The handlers are loaded on demand. */
import { Command } from "effect/cli"
import { boolean, required } from "../cli/terminal/flags.ts"
import { json } from "../operator/flags.ts"
import { onDemand } from "../operator/onDemand.ts"
import { cellMoveFlags } from "./flags.ts"

const directory = onDemand(() => import("./cellDirectory.ts"))

const add = Command.make(
  "add",
  {
    url: required("url", "address at which the other cells reach this one, such as http://10.0.1.1:8787"),
    full: boolean("full", "new e-mail addresses get their accounts in other cells"),
    json
  },
  ({ url, full, json }) => directory((loaded) => loaded.add(url, !full, json))
).pipe(
  Command.withDescription(
    "Add this cell, its accounts and its imported catalog to the directory; again after a change, or to repair it"
  )
)

const list = Command.make("list", { json }, ({ json }) => directory((loaded) => loaded.list(json))).pipe(
  Command.withDescription("List the cells, and how many e-mail addresses have their account in each")
)

const moved = Command.make("moved", {}, () => directory((loaded) => loaded.moved)).pipe(
  Command.withDescription("Print the router's map of organizations that have moved (moved.map)")
)

const move = Command.make("move", cellMoveFlags, (given) =>
  onDemand(() => import("./moveCell.ts"))((loaded) => loaded.moveCell(given))
).pipe(
  Command.withDescription(
    "Move an organization to another cell while both serve; run it again after an interruption, which finishes or undoes it"
  )
)

export const cells = Command.make("cells").pipe(
  Command.withDescription("Manage the cells of a service: installations that share its organizations"),
  Command.withSubcommands([move, add, list, moved])
)
