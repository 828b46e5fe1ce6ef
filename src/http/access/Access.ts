/**
 * Whether a caller may call an operation, by the rights that the operation states (api/shapes/Common.ts). The checks of every request with a
 * token ask it (CallerChecks.ts), so no handler can forget it. Where a caller may do less with some objects, the handler says so.
 */
import { Context } from "effect"
import type { Allow, Caller } from "../../schema/accounts/KeyAccess.ts"
import { allows, type Role } from "../../schema/accounts/Role.ts"
import { type Problem, problem } from "../../schema/Errors.ts"
import { type Sentence, withCommands } from "../../schema/Hints.ts"
import { listMembers, signIn } from "../../schema/Steps.ts"
import { type KeyUse, Rights } from "../api/shapes/Common.ts"
import { WalletApi } from "../api/Wallet.ts"

const needsOrganization = problem(
  "forbidden",
  'This API key reads its own runs and its budget only (allow.read is "own"), and this needs allow.read "organization". A person changes it with PATCH /v1/api-keys/{key_id} or rungate keys update; an allowance gets it when it is created.'
)

export const needsSession = problem(
  "forbidden",
  withCommands`This endpoint needs a session token (rg_sess_…). Sign in with ${signIn}.`
)

export const needsRole = (needed: Role, has: Role, why?: string | Sentence): Problem<"forbidden"> =>
  problem(
    "forbidden",
    withCommands`${why === undefined ? "" : withCommands`${why} `}This needs the role ${needed}, and yours is ${has}. Ask an owner of the organization; ${listMembers} shows who that is.`
  )

const closed = problem(
  "forbidden",
  withCommands`This API key has a scope (allow), so it can't change anything but its own runs. Sign in with ${signIn} and use the session token.`
)
const readOnly = problem("forbidden", "This API key is read-only, so it can't cancel runs. Nothing was changed.")

/** What the rights of a caller depend on. */
export type Asking = Pick<Caller, "role" | "access">

const scopeProblem = (keys: KeyUse, { read_only, mint }: Allow) => {
  if (keys === "changes" || (keys === "mints" && mint !== true)) return closed
  return keys === "stops" && read_only === true ? readOnly : null
}

/** Why a caller may not call an operation with these rights. Null if they may. Admission decides about runs. */
export const refusalFor = ({ role, keys, own }: Rights, caller: Asking): Problem<"forbidden"> | null => {
  if (caller.role !== null) return allows(caller.role, role) ? null : needsRole(role, caller.role)
  if (keys === "people") return needsSession
  if (!own && (caller.access?.reads ?? null) !== null) return needsOrganization
  const allow = caller.access?.allow ?? null
  return allow === null ? null : scopeProblem(keys, allow)
}

const walletRights = Context.get(WalletApi.endpoints.get.annotations, Rights)

/** Whether answers may tell the caller what the wallet has. `role` is null for an API key; every key may read the wallet. */
export const maySeeWallet = (role: Role | null): boolean => refusalFor(walletRights, { role, access: null }) === null
