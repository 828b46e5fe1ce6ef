/**
 * The operator's commands for organizations and money. Most call operations of the API in this process (ask.ts).
 *
 * Those that make secrets and assign objects are defined here. Their handlers work on the database and are loaded on demand.
 */
import { Command } from "effect/cli"
import { OperatorOptOutsApi } from "../api/OptOuts.ts"
import { optOutCommands } from "../cli/account/optOuts.ts"
import { argument, optionalArgument } from "../cli/terminal/flags.ts"
import { onDemand } from "./onDemand.ts"
import { bills, credits } from "./credits.ts"
import { losses, margins } from "./earnings.ts"
import { json, limitOf, newKeyFlags, organizationId, resourceFlags } from "./flags.ts"
import { auditLog, crediting, invite, orgs, removeFactors, resume, revokeKey } from "./organizations.ts"
import { disputes, unknown } from "./outcomes.ts"
import { show } from "./show.ts"
import { resourceKinds } from "../../schema/catalog/Endpoint.ts"

const secrets = onDemand(() => import("./secrets.ts"))

const createOrganization = Command.make(
  "create",
  { name: argument("name", "name of the organization"), json },
  (given) => secrets((loaded) => loaded.createOrganization(given))
).pipe(Command.withDescription("Create an organization, and print its first API key once"))

const consoleCommand = Command.make("console", { json }, ({ json }) =>
  secrets((loaded) => loaded.consoleLink(json))
).pipe(Command.withDescription("Print a link that signs in to the operator console; it works once, for ten minutes"))

const createKey = Command.make("create", newKeyFlags, (given) => secrets((loaded) => loaded.createKey(given))).pipe(
  Command.withDescription("Create an API key for an organization and print it once")
)

const ownership = onDemand(() => import("./resources.ts"))

const changing = (name: "assign" | "revoke", description: string) =>
  Command.make(name, resourceFlags, (given) => ownership((loaded) => loaded[name](given))).pipe(
    Command.withDescription(description)
  )

const resources = Command.make("resources").pipe(
  Command.withDescription("Assign objects in the shared provider accounts to organizations"),
  Command.withSubcommands([
    changing("assign", "Let only this organization's runs use an object"),
    changing("revoke", "Take an object from an organization, including a verified sender"),
    Command.make(
      "list",
      {
        org_id: organizationId,
        kind: optionalArgument(resourceFlags.kind, resourceKinds.join(", ")),
        limit: limitOf("objects", 100),
        json
      },
      ({ org_id, kind, limit, json }) => ownership((loaded) => loaded.list(org_id, kind, limit, json))
    ).pipe(Command.withDescription("List what an organization owns, newest first"))
  ])
)

const rotate = Command.make("rotate", { json }, ({ json }) => secrets((loaded) => loaded.rotateReceiptKey(json))).pipe(
  Command.withDescription("Sign receipts with a new key from now on; older receipts stay valid")
)

export const operated = [
  orgs.pipe(Command.withSubcommands([createOrganization])),
  show,
  auditLog,
  consoleCommand,
  invite,
  crediting("credit", "bonus", "Grant credit to an organization"),
  crediting("refund", "refund", "Refund an organization"),
  losses,
  margins,
  credits,
  bills,
  unknown,
  resume,
  disputes,
  optOutCommands(OperatorOptOutsApi.endpoints, "rungate admin opt-outs", "Whom no organization's run may contact"),
  resources,
  Command.make("receipts").pipe(
    Command.withDescription("Manage the key that signs receipts"),
    Command.withSubcommands([rotate])
  ),
  Command.make("second-factors").pipe(
    Command.withDescription("Help people who have lost phone and recovery codes"),
    Command.withSubcommands([removeFactors])
  ),
  Command.make("keys").pipe(Command.withDescription("Manage API keys"), Command.withSubcommands([createKey, revokeKey]))
] as const
