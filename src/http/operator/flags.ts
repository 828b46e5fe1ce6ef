/** Flags and arguments that several of the operator's commands take. */
import { Argument, Flag } from "effect/cli"
import { boolean } from "../cli/terminal/flags.ts"

export const json = boolean("json", "print JSON")

export const organizationId = Argument.String("org_id").pipe(
  Argument.withDescription("organization id, as admin orgs lists it")
)

const limitMax = 1_000

/** `items` names them in the help. */
export const limitOf = (items: string, otherwise: number) =>
  Flag.Int("limit").pipe(
    Flag.withDescription(`${items} to show, 1 to ${limitMax}`),
    Flag.filter(
      (limit) => limit >= 1 && limit <= limitMax,
      (limit) => `--limit must be from 1 to ${limitMax}, not ${limit}`
    ),
    Flag.withDefault(otherwise)
  )
