/** Flags and arguments of the operator's commands that several commands or their handlers read. */
import { Argument, Flag } from "effect/cli"
import { resourceKinds } from "../../schema/catalog/Endpoint.ts"
import { argument, between, boolean, required, text } from "../cli/terminal/flags.ts"

export const json = boolean("json", "print JSON")

export const organizationId = argument("org_id", "organization id, as admin orgs lists it")

const limitMax = 1_000

/** `items` names them in the help. */
export const limitOf = (items: string, otherwise: number) =>
  between("limit", 1, limitMax, `${items} to show, 1 to ${limitMax}`).pipe(Flag.withDefault(otherwise))

export const newKeyFlags = {
  org_id: organizationId,
  name: required("name", "name of the key, as the organization sees it").pipe(
    Flag.withDefault("created by the operator")
  ),
  json
}

export const resourceFlags = {
  org_id: organizationId,
  kind: Argument.Literals("kind", resourceKinds).pipe(Argument.withDescription(resourceKinds.join(", "))),
  id: argument("id", "e-mail address, domain, or the provider's id of the account or job"),
  provider: text("provider", "provider of the account or job"),
  json
}
