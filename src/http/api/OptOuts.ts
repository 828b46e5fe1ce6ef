/** The contract of an organization's opt-outs: whom its runs must not contact. */
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Auth } from "./shapes/Common.ts"
import { added, checked, exported, imported, listed, removed, words } from "./shapes/OptOutFields.ts"
import { operation } from "./shapes/Rights.ts"

const reads = (command: string) => ({ role: "viewer", keys: "reads", command: `opt-outs ${command}` }) as const
const changes = (command: string) => ({ role: "member", keys: "changes", command: `opt-outs ${command}` }) as const

export class OptOutsApi extends HttpApiGroup.make("optOuts")
  .add(
    HttpApiEndpoint.get("list", "/opt-outs", listed).annotateMerge(operation(reads("list"), ...words.list)),
    HttpApiEndpoint.post("add", "/opt-outs", added).annotateMerge(operation(changes("add"), ...words.add)),
    HttpApiEndpoint.post("check", "/opt-outs/check", checked).annotateMerge(operation(reads("check"), ...words.check)),
    HttpApiEndpoint.post("import", "/opt-outs/import", imported).annotateMerge(
      operation(changes("import"), ...words.import)
    ),
    HttpApiEndpoint.get("export", "/opt-outs/export", exported).annotateMerge(
      operation(reads("export"), ...words.export)
    ),
    HttpApiEndpoint.delete("remove", "/opt-outs/:opt_out_id", removed).annotateMerge(
      operation({ role: "admin", keys: "people", command: "opt-outs remove" }, ...words.remove)
    )
  )
  .middleware(Auth) {}
