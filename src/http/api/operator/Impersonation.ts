/** The contract of a look into an organization's runs: read-only, after a reason that the organization can read. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { Wire } from "../../../schema/Errors.ts"
import { RunStatus } from "../../../schema/runs/Run.ts"
import { pagesWith } from "../shapes/Common.ts"
import { Note } from "./Fields.ts"
import { forOperators } from "./OperatorAuth.ts"
import { Impersonation } from "../../../schema/nouns/operator/Session.ts"
import { ListedRun, Run } from "../../../schema/nouns/Run.ts"
import { component } from "../../../schema/nouns/Noun.ts"

export class OperatorImpersonationApi extends HttpApiGroup.make("operatorImpersonation").add(
  forOperators("Look into an organization's runs", "Opens its runs to this session for half an hour, read-only.").post(
    "begin",
    "/operator/organizations/:org_id/impersonation",
    {
      payload: component("ImpersonationRequest", {
        reason: Note.annotate({ description: "The organization's admins read it in their audit log." })
      }),
      success: Impersonation,
      error: [Wire.not_found]
    }
  ),
  forOperators("List an organization's runs", "Newest first, without results. It needs an impersonation.").get(
    "runs",
    "/operator/organizations/:org_id/runs",
    { ...pagesWith(ListedRun, { status: Schema.optionalKey(RunStatus) }) }
  ),
  forOperators(
    "Read a run of an organization",
    "As its members read it, with the result. It needs an impersonation."
  ).get("run", "/operator/organizations/:org_id/runs/:run_id", { success: Run, error: [Wire.not_found] })
) {}
