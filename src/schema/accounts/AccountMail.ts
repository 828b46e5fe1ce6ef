/**
 * The texts of e-mails about accounts.
 *
 * They contain the service's address and a link, but no text from the person who caused the e-mail. So nobody can use them to send a message
 * of their own to strangers.
 */

export interface Written {
  readonly subject: string
  readonly text: string
}

/** Paths of the pages that links open. A page acts only when its form is sent, so mail scanners that open links do not use them up. */
export const verifyPath = "/verify-email"
export const resetPath = "/reset-password"
export const forgotPath = "/forgot-password"
export const invitationPath = "/invitation"
export const joinPath = "/join-organization"
export const approvalPath = "/approve-run"

/** The owner of the demo organization of a sandbox. No mail reaches this address. */
export const demoEmail = "demo@example.com"

/** The URL of a link. `address` has no trailing slash, and a token has no characters that a query would escape. */
export const linkOf = (address: string, path: string, token: string): string => `${address}${path}?token=${token}`

const lines = (...parts: ReadonlyArray<string>) => `${parts.join("\n\n")}\n`

export const verifyMail = (address: string, token: string): Written => ({
  subject: "Verify your e-mail address",
  text: lines(
    `Somebody signed up at ${address} with this e-mail address. To verify the address, open this link and confirm:`,
    linkOf(address, verifyPath, token),
    "The link works once, within three days. If you did not sign up, ignore this mail: without the link the account stays unused."
  )
})

export const alreadyHereMail = (address: string): Written => ({
  subject: "You already have an account",
  text: lines(
    `Somebody signed up at ${address} with this e-mail address, which already has an account. If it was you, sign in with your password. If you forgot it, ask for a new one here:`,
    `${address}${forgotPath}`,
    "If it was not you, ignore this mail: your account has not changed."
  )
})

export const resetMail = (address: string, token: string): Written => ({
  subject: "Set a new password",
  text: lines(
    `Somebody asked for a new password for your account at ${address}. To set one, open this link:`,
    linkOf(address, resetPath, token),
    "The link works once, within an hour. A new password ends all sessions. If you did not ask for it, ignore this mail: your password stays."
  )
})

export const joinMail = (address: string, token: string): Written => ({
  subject: "You are invited to an organization",
  text: lines(
    `Somebody who uses ${address} invited this e-mail address to join their organization there. To see the invitation and accept it, open this link:`,
    linkOf(address, joinPath, token),
    "The link works once, within a week of the invitation. If you don't know who invited you, ignore this mail: nothing happens without the link."
  )
})

/** What a person gets a mail about when the ways to sign in change, by its action in the audit log. */
export const signInChanges = {
  "passkey.created": "A passkey was added, which signs in without a password.",
  "passkey.removed": "A passkey was removed, and signs in no more.",
  "second_factor.created": "A second factor was turned on, so a sign-in with the password needs a code.",
  "second_factor.removed": "The second factor was removed, so the password alone signs in.",
  "recovery_code.used": "A recovery code was used in place of the code of an app. It works no more."
} as const

export const signInChangedMail = (address: string, change: keyof typeof signInChanges): Written => ({
  subject: "How you sign in has changed",
  text: lines(
    `This is about your account at ${address}. ${signInChanges[change]}`,
    "If it was neither you nor somebody whom you asked, set a new password, which ends all sessions, then remove passkeys that you don't know:",
    `${address}${forgotPath}`
  )
})
