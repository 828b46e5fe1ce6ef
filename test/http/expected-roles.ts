/**
 * The least role that each operation needs, as docs/concepts.md ("People") and docs/api.md promise it.
 *
 * Written by hand, so that a mistake in the annotations can't agree with it. A new operation gets a line here first.
 */
export const expectedRoles = {
  /** Reads what the organization has, and manages the own sign-in. */
  viewer: [
    "catalog.inspect",
    "quotes.quote",
    "simulations.simulate",
    "runs.list",
    "runs.get",
    "runs.details",
    "batches.list",
    "batches.get",
    "batches.results",
    "disputes.get",
    "receipts.get",
    "receipts.heads",
    "receipts.chain",
    "events.organization",
    "events.run",
    "usage.get",
    "history.get",
    "history.batch",
    "wallet.get",
    "wallet.transactions",
    "wallet.audit",
    "wallet.guard",
    "topups.autoTopup",
    "referrals.program",
    "keys.list",
    "keys.get",
    "allowances.list",
    "allowances.get",
    // Own keys and allowances only, which the handlers check (keys-follow-role.test.ts).
    "keys.revoke",
    "allowances.revoke",
    "labelBudgets.list",
    "labelBudgets.statement",
    "approvals.rules",
    "approvals.list",
    "approvals.get",
    "labelBudgets.values",
    "optOuts.list",
    "optOuts.check",
    "optOuts.export",
    "configuration.export",
    "senders.list",
    "webhooks.list",
    "webhooks.get",
    "webhooks.deliveries",
    "providerAccounts.list",
    "providerAccounts.get",
    "oauth.asked",
    "members.list",
    // Everybody may leave. Removing others needs an owner, which the handler checks (members.test.ts).
    "members.remove",
    "auth.session",
    "auth.sessions",
    "auth.signOut",
    "auth.endSession",
    "auth.endSessions",
    "browser.switch",
    "recovery.resendVerification",
    "recovery.changePassword",
    "recovery.secondFactor",
    "recovery.startSecondFactor",
    "recovery.confirmSecondFactor",
    "recovery.removeSecondFactor",
    "passkeys.list",
    "passkeys.start",
    "passkeys.create",
    "passkeys.rename",
    "passkeys.remove"
  ],
  /** Spends: runs, and creates keys. Own keys and allowances only, which the handlers check (members.test.ts). */
  member: [
    "runs.run",
    "runs.cancel",
    "batches.create",
    "batches.retry",
    "batches.cancel",
    "disputes.dispute",
    // The rule of the run may need a higher role, which the turn checks (slow/http/approvals.test.ts).
    "approvals.approve",
    "approvals.deny",
    "approvals.decide",
    "keys.create",
    "keys.change",
    "keys.rotate",
    "allowances.create",
    "oauth.decide",
    "optOuts.add",
    "optOuts.import"
  ],
  /** Pays in, sets limits, deletes, and decides who and what else gets access. */
  admin: [
    "topups.checkout",
    "topups.setAutoTopup",
    "wallet.setGuard",
    "history.erase",
    "configuration.preview",
    "configuration.apply",
    "labelBudgets.set",
    "labelBudgets.remove",
    "approvals.addRule",
    "approvals.changeRule",
    "approvals.removeRule",
    "optOuts.remove",
    "senders.add",
    "senders.verify",
    "senders.remove",
    "webhooks.create",
    "webhooks.change",
    "webhooks.remove",
    "webhooks.rotate",
    "webhooks.replay",
    "webhooks.replayAll",
    "providerAccounts.set",
    "providerAccounts.remove",
    "invitations.list",
    "invitations.create",
    "invitations.withdraw",
    "auditLog.list"
  ],
  /** Decides about the members. */
  owner: ["members.setRole", "members.removeFactors"]
} as const

/** What no API key may call, whatever its scope: operations about people, and changes that a leaked key must not make. */
export const peopleOnly: ReadonlyArray<string> = [
  ...["keys.create", "keys.change", "keys.rotate", "history.erase", "topups.setAutoTopup", "auditLog.list"],
  ...[
    "webhooks.create",
    "webhooks.change",
    "webhooks.remove",
    "webhooks.rotate",
    "webhooks.replay",
    "webhooks.replayAll"
  ],
  ...["labelBudgets.set", "labelBudgets.remove", "approvals.addRule", "approvals.changeRule", "approvals.removeRule"],
  ...["approvals.approve", "approvals.deny", "approvals.decide"],
  ...["optOuts.remove"],
  ...["configuration.preview", "configuration.apply"],
  ...["senders.add", "senders.verify", "senders.remove", "providerAccounts.set", "providerAccounts.remove"],
  ...["members.list", "members.setRole", "members.removeFactors", "members.remove", "oauth.asked", "oauth.decide"],
  ...["invitations.list", "invitations.create", "invitations.withdraw", "browser.switch"],
  ...["auth.signOut", "auth.endSessions", "auth.sessions", "auth.endSession", "auth.session"],
  ...["recovery.resendVerification", "recovery.changePassword", "recovery.secondFactor"],
  ...["recovery.startSecondFactor", "recovery.confirmSecondFactor", "recovery.removeSecondFactor"],
  ...["passkeys.list", "passkeys.start", "passkeys.create", "passkeys.rename", "passkeys.remove"]
]

/** What needs a verified e-mail address, where the service verifies them: it pays, spends, lets somebody else in, or adds a way to sign in. */
export const verifiedOnly: ReadonlyArray<string> = [
  ...["runs.run", "quotes.quote", "batches.create", "batches.retry", "topups.checkout", "topups.setAutoTopup"],
  ...["keys.create", "keys.change", "keys.rotate", "allowances.create", "invitations.create"],
  ...["recovery.startSecondFactor", "recovery.confirmSecondFactor", "passkeys.start", "passkeys.create"],
  ...["configuration.preview", "configuration.apply"]
]
