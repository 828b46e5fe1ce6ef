/** `rungate admin orgs`, `credit`, `refund`, `resume`, `invite`, `audit-log` and `keys revoke`: organizations as the console has them. */
import { Console, Effect, Stdio } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { newId } from "../../layers/platform/Ids.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { usd } from "../../schema/money/Money.ts"
import type { CreditType } from "../../schema/wallet/Wallet.ts"
import { OperatorAuditEntry } from "../../schema/nouns/AuditEntry.ts"
import { OperatorOrganization } from "../../schema/nouns/operator/Organization.ts"
import { changeCells } from "../cli/account/auditLog.ts"
import { removedSentence } from "../client/Words.ts"
import { TypedUsd } from "../cli/terminal/TypedUsd.ts"
import { consent } from "../cli/terminal/consent.ts"
import { text, yes } from "../cli/terminal/flags.ts"
import { ask, list, setOnly } from "./ask.ts"
import { json, limitOf, organizationId } from "./flags.ts"
import { harmless } from "../cli/terminal/text.ts"
import { print, when } from "./output.ts"

export const orgs = Command.make(
  "orgs",
  { limit: limitOf("organizations", 50), search: text("search", "filter by name, a member's e-mail or id"), json },
  ({ search, ...shown }) =>
    list(
      "operatorOrganizations",
      shown,
      (organizations, page) => organizations.list({ query: { ...page, ...setOnly({ search }) } }),
      {
        noun: OperatorOrganization,
        more: "More organizations exist. Use --search, or raise --limit"
      }
    )
).pipe(Command.withDescription("List organizations with their wallets, newest first"))

const done: Readonly<Record<CreditType, string>> = { bonus: "credited", refund: "refunded" }

/** Scripts credit without --yes. */
const agreed = Effect.fnUntraced(function* (question: string, given: { readonly yes: boolean }) {
  if (yield* (yield* Stdio.Stdio).stdinIsTerminal) yield* consent(question, given)
})

export const crediting = (command: "credit" | "refund", type: CreditType, description: string) =>
  Command.make(
    command,
    {
      org_id: organizationId,
      amount: Argument.String("amount").pipe(
        Argument.withDescription("in USD, such as 10.00"),
        Argument.withSchema(TypedUsd)
      ),
      note: Flag.String("note").pipe(Flag.withDescription("reason; the organization sees it in its ledger")),
      reference: text("reference", "unique reference: the same reference is booked only once"),
      yes,
      json
    },
    Effect.fnUntraced(function* ({ org_id, amount, note, reference: given, yes, json }) {
      const reference = given ?? newId("cmd")
      const { organization, booked } = yield* ask("operatorOrganizations", (organizations) =>
        Effect.gen(function* () {
          const { name: title } = yield* organizations.get({ params: { org_id } })
          const organization = `${org_id} (${harmless(title)})`
          yield* agreed(`${command === "credit" ? "Credit" : "Refund"} ${usd(amount)} USD to ${organization}?`, { yes })
          const payload = { type, amount, note, reference }
          return { organization, booked: yield* organizations.credit({ params: { org_id }, payload }) }
        })
      )
      const { already, ...shown } = booked
      const status = already ? `already_${done[type]}` : done[type]
      if (json) return yield* print({ status, ...shown })
      yield* Console.log(
        `${status.replaceAll("_", " ")}: ${booked.amount} USD to ${organization}, reference ${reference}, entry ${booked.transaction_id}`
      )
      yield* Console.log(`balance ${booked.balance}, available ${booked.available} USD`)
    })
  ).pipe(Command.withDescription(description))

/** Lets a wallet take runs again that a check of the books has suspended, if its books add up now. */
export const resume = Command.make(
  "resume",
  { org_id: organizationId, json },
  Effect.fnUntraced(function* ({ org_id, json }) {
    const { already, ...resumed } = yield* ask("operatorOrganizations", (organizations) =>
      organizations.resume({ params: { org_id } })
    )
    yield* json
      ? print(resumed)
      : Console.log(
          already
            ? `The wallet of ${org_id} was not suspended. Nothing was changed.`
            : `resumed: the books of ${org_id} add up, and it takes new runs again.`
        )
  })
).pipe(
  Command.withDescription("Let a wallet take runs again that a check of the books has suspended, if its books add up")
)

export const revokeKey = Command.make(
  "revoke",
  { key_id: Argument.String("key_id").pipe(Argument.withDescription("key id, as admin show lists it")), json },
  Effect.fnUntraced(function* ({ key_id, json }) {
    const key = yield* ask("operatorOrganizations", (organizations) => organizations.revokeKey({ params: { key_id } }))
    yield* json
      ? print(key)
      : Console.log(
          `revoked: ${key_id} ${harmless(key.name)} (${key.display}) of ${key.org_id}, since ${when(key.revoked_at)}`
        )
  })
).pipe(Command.withDescription("Revoke an API key immediately and permanently"))

export const removeFactors = Command.make(
  "remove",
  {
    user_id: Argument.String("user_id").pipe(Argument.withDescription("id of a person, as admin show lists it")),
    yes,
    json
  },
  Effect.fnUntraced(function* ({ user_id, yes, json }) {
    yield* agreed(`Remove the second factor and all passkeys of ${user_id}? Their sessions end.`, { yes })
    const removed = yield* ask("operatorOrganizations", (organizations) =>
      organizations.removeFactors({ params: { user_id } })
    )
    yield* json ? print(removed) : Console.log(removedSentence(removed))
  })
).pipe(Command.withDescription("Remove the second factor and all passkeys of a person who has lost them"))

export const invite = Command.make(
  "invite",
  {
    email: Argument.String("email").pipe(
      Argument.withDescription("e-mail address; the invitation is only valid for it")
    ),
    json
  },
  Effect.fnUntraced(function* ({ email, json }) {
    const invitation = yield* ask("operatorInvitations", (invitations) =>
      invitations.create({ payload: { email: email.trim() } })
    )
    yield* json ? print(invitation) : Console.log(invitation.link)
    yield* Console.error(
      `Send this link only to ${invitation.email}. It works once, until ${when(invitation.expires_at)}, and signs up with that address.`
    )
    const { signUp, publicUrl } = yield* Settings
    if (signUp === "closed")
      yield* Console.error("Sign-up is closed. The link works after RUNGATE_SIGN_UP is set to invite or open.")
    if (publicUrl === null)
      yield* Console.error("RUNGATE_PUBLIC_URL is not set, so the link contains the local address of this machine.")
  })
).pipe(Command.withDescription("Print a sign-up link for one e-mail address; it works once, for seven days"))

export const auditLog = Command.make(
  "audit-log",
  {
    org: text("org", "only changes in this organization"),
    action: text("action", "only this action, such as key.revoked, or all that begin with key"),
    actor: text("actor", "only this actor: an id, an e-mail address, person, key, operator or system"),
    limit: limitOf("entries", 50),
    json
  },
  ({ org, action, actor, ...shown }) =>
    list(
      "operatorAuditLog",
      shown,
      (log, page) => log.list({ query: { ...page, ...setOnly({ org_id: org, action, actor }) } }),
      {
        noun: OperatorAuditEntry,
        // Several operators and organizations may use one name.
        cells: { ...changeCells, actor: ({ actor: { kind, name } }) => (name === null ? kind : `${kind} ${name}`) },
        more: "More entries exist. Raise --limit"
      }
    )
).pipe(Command.withDescription("List who changed what, newest first: in one organization, or everywhere"))
