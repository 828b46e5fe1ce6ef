/**
 * What an operation says beside its path and its schemas: its words, who may call it, and the command that does the same.
 *
 * The access check (access/Access.ts), the OpenAPI document, docs/api.md, the command line and the console read these annotations. An
 * operation with a credential that has none is the owner's, and `test/http/roles.test.ts` fails.
 */
import { Context } from "effect"
import { OpenApi } from "effect/http-api"
import type { Role } from "../../../schema/accounts/Role.ts"

/**
 * What an operation does, as far as it matters for API keys, and for those with a scope (`allow`):
 *
 * - `reads`: changes nothing.
 * - `runs`: starts runs; admission checks each of them against the scope, and quotes as well.
 * - `stops`: cancels a run. Closed to read-only keys.
 * - `mints`: gives an allowance. Of the keys, open to those with `allow.mint`.
 * - `revokes`: ends the calling key, or an allowance that it gave.
 * - `changes`: changes the organization. Closed to keys with a scope.
 * - `people`: is about people, or changes what a leaked key must not. Closed to all keys.
 */
export type KeyUse = "reads" | "runs" | "stops" | "mints" | "revokes" | "changes" | "people"

export interface Rights {
  /** The least role that a session needs. */
  readonly role: Role
  readonly keys: KeyUse
  /**
   * Open to keys that read their own runs only (`allow.read`). The handler shows them nothing else: their runs, the batches that they
   * started, their budget, and the allowances that they gave. `test/http/own-reads.test.ts` tries each operation.
   */
  readonly own: boolean
  /** Closed to people who have not verified their e-mail address. A key's creator has. */
  readonly verified: boolean
}

export const Rights = Context.Reference<Rights>("rungate/http/api/shapes/Rights", {
  defaultValue: () => ({ role: "owner", keys: "people", own: false, verified: true })
})

/** The words after `rungate` that do the same. Empty if there is no such command. */
export const CommandName = Context.Reference<string>("rungate/http/api/shapes/CommandName", { defaultValue: () => "" })

/** The credential that an operation needs, in words. */
export const credentialOf = ({ role, keys }: Pick<Rights, "role" | "keys">): string => {
  const session =
    role === "viewer" ? "a session token" : `a session token of ${/^[ao]/.test(role) ? "an" : "a"} ${role}`
  if (keys === "people") return session
  return `an API key${keys === "mints" ? " with allow.mint" : ""} or ${session}`
}

/** An operation whose middleware alone says who may call it: the operator's, and those that need no credential. */
export const about = (summary: string, description: string, command = "") =>
  Context.add(OpenApi.annotations({ summary, description }), CommandName, command)

interface Stated extends Omit<Rights, "own" | "verified"> {
  readonly own?: boolean
  readonly verified?: boolean
  readonly command?: string
}

/** An operation of somebody with a credential. Its description does not say what every session and every key may do. */
export const operation = (
  { own = false, verified = false, command, ...more }: Stated,
  summary: string,
  description: string
) => {
  const rights = { ...more, own, verified }
  const isForAll = rights.role === "viewer" && rights.keys !== "people"
  const needs = isForAll ? "" : `Needs ${credentialOf(rights)}. `
  return Context.add(about(summary, `${needs}${description}`.trimEnd(), command), Rights, rights)
}

/** An operation of a person about the own account. */
export const own = (summary: string, description: string, command = "") =>
  operation({ role: "viewer", keys: "people", command }, summary, description)
