/**
 * `rungate admin orgs`, `audit-log`, `resume`, `keys revoke`, `second-factors remove`, `credit`, `refund` and `invite`: organizations as the
 * console has them.
 */
import { Effect, Stdio } from "effect"
import { Command, Flag } from "effect/cli"
import { newId } from "../../layers/platform/Ids.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { OperatorAuditEntry } from "../../schema/nouns/AuditEntry.ts"
import { RemovedFactors } from "../../schema/nouns/Member.ts"
import {
  OperatorCredit,
  OperatorKey,
  OperatorOrganization,
  OperatorOrganizationDetail
} from "../../schema/nouns/operator/Organization.ts"
import { NewSignUpInvitation } from "../../schema/nouns/operator/Session.ts"
import type { CreditType } from "../../schema/wallet/Wallet.ts"
import { OperatorAuditLogApi } from "../api/operator/AuditLog.ts"
import { OperatorInvitationsApi } from "../api/operator/Invitations.ts"
import { OperatorOrganizationsApi, ResumedWallet } from "../api/operator/Organizations.ts"
import { changeCells } from "../cli/account/auditLog.ts"
import { drawn, listed } from "../cli/answers/draw.ts"
import { ask, call } from "../cli/answers/operation.ts"
import { row, rowWith, shownAs } from "../cli/answers/row.ts"
import { read } from "../cli/answers/show.ts"
import { consent } from "../cli/terminal/consent.ts"
import { Screen } from "../cli/terminal/Screen.ts"
import { amountArgument, argument, text, yes } from "../cli/terminal/flags.ts"
import { harmless } from "../cli/terminal/text.ts"
import { removedSentence } from "../client/Words.ts"
import { json, organizationId } from "./flags.ts"
import { when } from "./output.ts"

const { endpoints } = OperatorOrganizationsApi

export const orgs = row(endpoints.list, {
  about: "List organizations with their wallets, newest first",
  fields: { search: "filter by name, a member's e-mail or id" },
  show: listed(OperatorOrganization, "There are no such organizations.")
})

export const auditLog = row(OperatorAuditLogApi.endpoints.list, {
  about: "List who changed what, newest first: in one organization, or everywhere",
  items: "entries",
  fields: {
    org_id: text("org", "only changes in this organization"),
    action: "only this action, such as key.revoked, or all that begin with key",
    actor: "only this actor: an id, an e-mail address, person, key, operator or system"
  },
  show: listed(OperatorAuditEntry, "There are no such changes.", {
    ...changeCells,
    // Several operators and organizations may use one name.
    actor: ({ actor: { kind, name } }) => (name === null ? kind : `${kind} ${name}`)
  })
})

/** Lets a wallet take runs again that a check of the books has suspended, if its books add up now. */
export const resume = row(endpoints.resume, {
  about: "Let a wallet take runs again that a check of the books has suspended, if its books add up",
  fields: { org_id: organizationId },
  show: drawn(ResumedWallet, ({ org_id, already }) => [
    already
      ? `The wallet of ${org_id} was not suspended. Nothing was changed.`
      : `resumed: the books of ${org_id} add up, and it takes new runs again.`
  ])
})

export const revokeKey = row(endpoints.revokeKey, {
  about: "Revoke an API key immediately and permanently",
  fields: { key_id: "key id, as admin show lists it" },
  show: drawn(OperatorKey, ({ id, name, display, org_id, revoked_at }) => [
    `revoked: ${id} ${harmless(name)} (${display}) of ${org_id}, since ${when(revoked_at)}`
  ])
})

/** Scripts need no --yes. */
const agreed = Effect.fnUntraced(function* (question: string, given: { readonly yes: boolean }) {
  if (yield* (yield* Stdio.Stdio).stdinIsTerminal) yield* consent(question, given)
})

export const removeFactors = rowWith(
  endpoints.removeFactors,
  { yes },
  (given, { fields }) =>
    Effect.as(
      agreed(`Remove the second factor and all passkeys of ${String(fields["user_id"])}? Their sessions end.`, given),
      {}
    ),
  {
    about: "Remove the second factor and all passkeys of a person who has lost them",
    fields: { user_id: "id of a person, as admin show lists it" },
    show: drawn(RemovedFactors, (removed) => [removedSentence(removed)])
  }
)

const done: Readonly<Record<CreditType, string>> = { bonus: "credited", refund: "refunded" }

/** The question names the organization, so that nobody pays another one by a wrong id. */
export const crediting = (command: "credit" | "refund", type: CreditType, description: string) =>
  Command.make(
    command,
    {
      org_id: organizationId,
      amount: amountArgument("in USD, such as 10.00"),
      note: Flag.String("note").pipe(Flag.withDescription("reason; the organization sees it in its ledger")),
      reference: text("reference", "unique reference: the same reference is booked only once"),
      yes,
      json
    },
    Effect.fnUntraced(function* ({ org_id, amount, note, reference, yes, json }) {
      const params = { org_id }
      const { name } = yield* ask(endpoints.get, { params }, OperatorOrganizationDetail)
      const organization = `${org_id} (${harmless(name)})`
      yield* agreed(`${command === "credit" ? "Credit" : "Refund"} ${amount} USD to ${organization}?`, { yes })
      const payload = { type, amount, note, reference: reference ?? newId("cmd") }
      const show = drawn(OperatorCredit, ({ already, amount, reference, transaction_id, balance, available }) => [
        `${already ? "already " : ""}${done[type]}: ${amount} USD to ${organization}, reference ${reference}, entry ${transaction_id}`,
        `balance ${balance}, available ${available} USD`
      ])
      yield* shownAs(show, yield* call(endpoints.credit, { params, payload }), { json })
    })
  ).pipe(Command.withDescription(description))

export const invite = Command.make(
  "invite",
  { email: argument("email", "e-mail address; the invitation is only valid for it"), json },
  Effect.fnUntraced(function* ({ email, json }) {
    const answer = yield* call(OperatorInvitationsApi.endpoints.create, { payload: { email: email.trim() } })
    yield* shownAs(
      drawn(NewSignUpInvitation, ({ link }) => [link]),
      answer,
      { json }
    )
    const invitation = yield* read(NewSignUpInvitation, answer)
    const { warn } = yield* Screen
    yield* warn(
      `Send this link only to ${invitation.email}. It works once, until ${when(invitation.expires_at)}, and signs up with that address.`
    )
    const { signUp, publicUrl } = yield* Settings
    if (signUp === "closed")
      yield* warn("Sign-up is closed. The link works after RUNGATE_SIGN_UP is set to invite or open.")
    if (publicUrl === null)
      yield* warn("RUNGATE_PUBLIC_URL is not set, so the link contains the local address of this machine.")
  })
).pipe(Command.withDescription("Print a sign-up link for one e-mail address; it works once, for seven days"))
