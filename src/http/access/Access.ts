/**
 * Which role a session needs for each operation of the API. Auth.ts checks it for every request, so no handler can forget it.
 *
 * An operation without a line here needs an owner, and `test/http/roles.test.ts` fails. API keys have no role: they act for their
 * organization, and where they may do less than a person, the operation's handler says so. `people` are operations that no key may call.
 */
import type { KeyAccess } from "../../schema/accounts/KeyAccess.ts"
import { allows, type Role } from "../../schema/accounts/Role.ts"
import { type Problem, problem } from "../../schema/Errors.ts"
import { type Sentence, withCommands } from "../../schema/Hints.ts"
import { listMembers, signIn } from "../../schema/Steps.ts"

/** The role that a session needs. */
export const neededRole: Readonly<Record<string, Role>> = {
  "runs.run": "member",
  "runs.list": "viewer",
  "runs.get": "viewer",
  "runs.details": "viewer",
  "runs.cancel": "member",
  "batches.create": "member",
  "batches.list": "viewer",
  "batches.get": "viewer",
  "batches.results": "viewer",
  "batches.retry": "member",
  "batches.cancel": "member",
  "quotes.quote": "viewer",
  "simulations.simulate": "viewer",
  "disputes.dispute": "member",
  "disputes.get": "viewer",
  "receipts.get": "viewer",
  "receipts.heads": "viewer",
  "receipts.chain": "viewer",
  "events.organization": "viewer",
  "events.run": "viewer",
  "usage.get": "viewer",
  "history.get": "viewer",
  "history.batch": "viewer",
  "history.erase": "admin",
  "catalog.inspect": "viewer",
  "wallet.get": "viewer",
  "wallet.transactions": "viewer",
  "wallet.audit": "viewer",
  "wallet.guard": "viewer",
  "wallet.setGuard": "admin",
  "topups.checkout": "admin",
  "topups.autoTopup": "viewer",
  "topups.setAutoTopup": "admin",
  "referrals.program": "viewer",
  "keys.list": "viewer",
  "keys.get": "viewer",
  "keys.create": "member",
  // A member may change and rotate own keys only, and whoever is less than an admin may revoke own ones only. The handler checks it.
  "keys.change": "member",
  "keys.rotate": "member",
  "keys.revoke": "viewer",
  "allowances.create": "member",
  "allowances.list": "viewer",
  "allowances.get": "viewer",
  // Whoever is less than an admin may revoke own allowances only. The handler checks it.
  "allowances.revoke": "viewer",
  "senders.list": "viewer",
  "senders.add": "admin",
  "senders.verify": "admin",
  "senders.remove": "admin",
  "auth.signOut": "viewer",
  "auth.endSessions": "viewer",
  "auth.sessions": "viewer",
  "auth.endSession": "viewer",
  "auth.session": "viewer",
  "browser.switch": "viewer",
  "recovery.resendVerification": "viewer",
  "recovery.changePassword": "viewer",
  "members.list": "viewer",
  "members.setRole": "owner",
  // Everybody may remove themselves. The handler checks the rest.
  "members.remove": "viewer",
  "invitations.list": "admin",
  "invitations.create": "admin",
  "invitations.withdraw": "admin",
  "webhooks.list": "viewer",
  "webhooks.create": "admin",
  "webhooks.get": "viewer",
  "webhooks.change": "admin",
  "webhooks.remove": "admin",
  "webhooks.rotate": "admin",
  "webhooks.deliveries": "viewer",
  "webhooks.replay": "admin",
  "webhooks.replayAll": "admin",
  "providerAccounts.list": "viewer",
  "providerAccounts.get": "viewer",
  "providerAccounts.set": "admin",
  "providerAccounts.remove": "admin",
  "auditLog.list": "admin",
  "oauth.asked": "viewer",
  "oauth.decide": "member"
}

/**
 * What a key may call that reads its own runs only (`allow.read`). The handlers of these show it nothing else: its runs, the batches that it
 * started, its budget, and the allowances that it gave. `test/http/own-reads.test.ts` tries each operation.
 */
const ownReads: ReadonlySet<string> = new Set([
  ...["runs.run", "runs.list", "runs.get", "runs.details", "runs.cancel", "quotes.quote", "catalog.inspect"],
  ...["batches.create", "batches.list", "batches.get", "batches.results", "batches.retry", "batches.cancel"],
  ...["disputes.get", "events.organization", "events.run", "usage.get", "history.get", "history.batch"],
  ...["wallet.get", "keys.revoke", "allowances.create", "allowances.list", "allowances.get", "allowances.revoke"]
])

const needsOrganization = problem(
  "forbidden",
  'This API key reads its own runs and its budget only (allow.read is "own"), and this needs allow.read "organization". A person changes it with PATCH /v1/api-keys/{key_id} or rungate keys update; an allowance gets it when it is created.'
)

/** Why a key that reads its own runs may not call an operation. Null if it may, and for every other caller. */
export const ownReadsOnly = (
  operation: string,
  access: Pick<KeyAccess, "reads"> | null
): Problem<"forbidden"> | null =>
  access === null || access.reads === null || ownReads.has(operation) ? null : needsOrganization

export const needsSession = problem(
  "forbidden",
  withCommands`This endpoint needs a session token (rg_sess_…). Sign in with ${signIn}.`
)

/** Groups of operations about people. Keys are for programs, so none may call them. */
const people = /^(members|invitations|auditLog|oauth)\./

export const needsRole = (needed: Role, has: Role, why?: string | Sentence): Problem<"forbidden"> =>
  problem(
    "forbidden",
    withCommands`${why === undefined ? "" : withCommands`${why} `}This needs the role ${needed}, and yours is ${has}. Ask an owner of the organization; ${listMembers} shows who that is.`
  )

/** Whether answers may tell the caller what the wallet has. `role` is null for an API key; every key may read the wallet. */
export const maySeeWallet = (role: Role | null): boolean => refusalFor("wallet.get", role) === null

/** Why a caller may not call an operation. Null if they may. `role` is null for an API key. */
export const refusalFor = (operation: string, role: Role | null): Problem<"forbidden"> | null => {
  if (role === null) return people.test(operation) ? needsSession : null
  const needed = neededRole[operation] ?? "owner"
  return allows(role, needed) ? null : needsRole(needed, role)
}
