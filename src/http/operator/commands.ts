/**
 * The operator's commands for organizations and money. Most call operations of the API in this process (ask.ts).
 *
 * Those that make secrets and assign objects are defined here. Their handlers work on the database and are loaded on demand.
 */
import { Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { OperatorOptOutsApi } from "../api/OptOuts.ts"
import { optOutCommands } from "../cli/account/optOuts.ts"
import { text } from "../cli/terminal/flags.ts"
import { onDemand } from "./onDemand.ts"
import { bills, credits } from "./credits.ts"
import { losses, margins } from "./earnings.ts"
import { json, limitOf, organizationId } from "./flags.ts"
import { auditLog, crediting, invite, orgs, removeFactors, resume, revokeKey } from "./organizations.ts"
import { disputes, unknown } from "./outcomes.ts"
import { show } from "./show.ts"
import { resourceKinds } from "../../schema/catalog/Endpoint.ts"

const secrets = onDemand(() => import("./secrets.ts"))

const createOrganization = Command.make(
  "create",
  { name: Argument.String("name").pipe(Argument.withDescription("name of the organization")), json },
  (given) => secrets((loaded) => loaded.createOrganization(given))
).pipe(Command.withDescription("Create an organization, and print its first API key once"))

const consoleCommand = Command.make("console", { json }, ({ json }) =>
  secrets((loaded) => loaded.consoleLink(json))
).pipe(Command.withDescription("Print a link that signs in to the operator console; it works once, for ten minutes"))

const createKey = Command.make(
  "create",
  {
    org_id: organizationId,
    name: Flag.String("name").pipe(
      Flag.withDescription("name of the key, as the organization sees it"),
      Flag.withDefault("created by the operator")
    ),
    json
  },
  (given) => secrets((loaded) => loaded.createKey(given))
).pipe(Command.withDescription("Create an API key for an organization and print it once"))

const ownership = onDemand(() => import("./resources.ts"))

const kind = Argument.Literals("kind", resourceKinds).pipe(Argument.withDescription(resourceKinds.join(", ")))
const changing = (name: "assign" | "revoke", description: string) =>
  Command.make(
    name,
    {
      org_id: organizationId,
      kind,
      id: Argument.String("id").pipe(
        Argument.withDescription("e-mail address, domain, or the provider's id of the account or job")
      ),
      provider: text("provider", "provider of the account or job"),
      json
    },
    (given) => ownership((loaded) => loaded[name](given))
  ).pipe(Command.withDescription(description))

const resources = Command.make("resources").pipe(
  Command.withDescription("Assign objects in the shared provider accounts to organizations"),
  Command.withSubcommands([
    changing("assign", "Let only this organization's runs use an object"),
    changing("revoke", "Take an object from an organization, including a verified sender"),
    Command.make(
      "list",
      {
        org_id: organizationId,
        kind: kind.pipe(Argument.optional, Argument.map(Option.getOrNull)),
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
