/**
 * Sends e-mails about accounts, after the transaction that queued them and outside of any request.
 *
 * Every process sends its own e-mails at once, and looks for retries and for those of processes that died. A failed e-mail is retried for about four
 * hours. After that its recipient must request a new one.
 */
import { Cause, Context, Effect, Layer, Redacted } from "effect"
import { oneLine } from "../../layers/postgres/Batch.ts"
import { DueWork, repeatedly } from "../../layers/postgres/DueWork.ts"
import { AuditLog } from "../../layers/auditlog/AuditLog.ts"
import { type Content, type DueMail, Mails } from "../../layers/accounts/Mails.ts"
import { type DueInvitation, invitationsDue, makeInvitationMails } from "../../layers/members/InvitationMails.ts"
import { type Mail, Mailer } from "../../layers/accounts/Mailer.ts"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import {
  alreadyHereMail,
  joinMail,
  resetMail,
  signInChangedMail,
  verifyMail,
  type Written
} from "../../schema/accounts/AccountMail.ts"

const claimMax = 20
/** Mail servers accept only a few parallel messages from one sender. */
const parallel = 4
/** About four hours: waits double from one minute up to one hour. */
const attemptsMax = 8
const cleanUpEvery = "10 minutes"

export class AccountMails extends Context.Service<
  AccountMails,
  {
    /** Starts sending queued e-mails. The caller does not wait for it. */
    readonly wake: Effect.Effect<void>
  }
>()("rungate/actors/accounts/AccountMails") {
  static readonly layer = Layer.effect(
    AccountMails,
    Effect.gen(function* () {
      const mails = yield* Mails
      const invitations = yield* makeInvitationMails
      const log = yield* AuditLog
      const mailer = yield* Mailer
      const address = addressOf(yield* Settings)

      const render = (content: Exclude<Content, { readonly _tag: "Drop" }>): Written => {
        switch (content._tag) {
          case "Verify":
            return verifyMail(address, Redacted.value(content.token))
          case "Reset":
            return resetMail(address, Redacted.value(content.token))
          case "AlreadyHere":
            return alreadyHereMail(address)
          case "Changed":
            return signInChangedMail(address, content.change)
        }
      }

      /** A failed e-mail stays due. `ended` is called when it was sent, or has failed too often. */
      const sendOrRetry = (
        mail: Mail,
        what: string,
        attempts: number,
        ended: (outcome: "sent" | "failed") => Effect.Effect<void>
      ) =>
        mailer.send(mail).pipe(
          Effect.andThen(ended("sent")),
          Effect.catchTag("MailNotSent", ({ message }) =>
            attempts < attemptsMax
              ? Effect.logWarning(`${what} could not be sent and will be retried: ${message}`)
              : Effect.andThen(
                  Effect.logError(
                    `${what} could not be sent in ${attempts} attempts and will not be retried: ${message}`
                  ),
                  ended("failed")
                )
          )
        )

      /** Logs mail ids only, so that the log holds no e-mail addresses. */
      const send = Effect.fnUntraced(function* (mail: DueMail) {
        const { mail_id, kind, attempts } = mail
        const content = yield* mails.content(mail)
        if (content._tag === "Drop") {
          yield* Effect.logDebug(`mail ${mail_id} (${kind}) was dropped: ${content.why}`)
          return yield* mails.ended(mail_id, "dropped")
        }
        const to = content._tag === "Reset" ? content.to : mail.address
        yield* sendOrRetry({ to, ...render(content) }, `mail ${mail_id} (${kind})`, attempts, (outcome) =>
          mails.ended(mail_id, outcome)
        )
      })

      const sendInvitation = Effect.fnUntraced(function* (invitation: DueInvitation) {
        const { invitation_id, email, attempts } = invitation
        const token = yield* invitations.token(invitation)
        if (token === null && attempts < attemptsMax) return
        if (token === null) return yield* invitations.ended(invitation, "failed")
        const written = joinMail(address, Redacted.value(token))
        yield* sendOrRetry({ to: email, ...written }, `the mail of ${invitation_id}`, attempts, (outcome) =>
          invitations.ended(invitation, outcome)
        )
      })

      const guarded = (what: string, sending: Effect.Effect<void>) =>
        Effect.catchCause(sending, (cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.failCause(cause)
            : Effect.logError(`sending ${what} failed: ${oneLine(cause)}`)
        )

      const sendDue = Effect.gen(function* () {
        let more = true
        while (more) {
          const due = yield* mails.due(claimMax)
          const invited = yield* invitations.due(claimMax)
          const all = [
            ...due.map((mail) => guarded(`mail ${mail.mail_id}`, send(mail))),
            ...invited.map((one) => guarded(`the mail of ${one.invitation_id}`, sendInvitation(one)))
          ]
          yield* Effect.all(all, { concurrency: parallel, discard: true })
          more = due.length === claimMax || invited.length === claimMax
        }
      })

      const due = () => `${Mails.due()} OR ${invitationsDue}`
      const wake = yield* (yield* DueWork).whenDue("mails", due, sendDue)
      yield* repeatedly(
        "deletion of old mails",
        cleanUpEvery,
        Effect.all([mails.forget, invitations.forget, log.forgetAddresses], { discard: true })
      )

      return AccountMails.of({ wake: Effect.sync(wake) })
    })
  )
}
