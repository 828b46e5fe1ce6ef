/** The contract of the opt-outs of the whole service, which no organization's run may contact. */
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { added, checked, exported, imported, listed, removed, words } from "../shapes/OptOutFields.ts"
import { forOperators, OperatorAuth } from "./OperatorAuth.ts"

const everywhere = ([summary, description]: readonly [string, string], command: string) =>
  forOperators(`${summary} of the service`, description, `admin opt-outs ${command}`)

export class OperatorOptOutsApi extends HttpApiGroup.make("operatorOptOuts")
  .add(
    HttpApiEndpoint.get("list", "/operator/opt-outs", listed).annotateMerge(everywhere(words.list, "list")),
    HttpApiEndpoint.post("add", "/operator/opt-outs", added).annotateMerge(everywhere(words.add, "add")),
    HttpApiEndpoint.post("check", "/operator/opt-outs/check", checked).annotateMerge(everywhere(words.check, "check")),
    HttpApiEndpoint.post("import", "/operator/opt-outs/import", imported).annotateMerge(
      everywhere(words.import, "import")
    ),
    HttpApiEndpoint.get("export", "/operator/opt-outs/export", exported).annotateMerge(
      everywhere(words.export, "export")
    ),
    HttpApiEndpoint.delete("remove", "/operator/opt-outs/:opt_out_id", removed).annotateMerge(
      everywhere(words.remove, "remove")
    )
  )
  .middleware(OperatorAuth) {}
