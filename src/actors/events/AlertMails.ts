/**
 * Sends e-mails to members: alerts, and webhook endpoints that were paused. A failed one is retried for
 * about four hours.
 */
import { Cause, Effect, Layer, Redacted } from "effect"
import { oneLine } from "../../layers/postgres/Batch.ts"
import { DueWork, repeatedly } from "../../layers/postgres/DueWork.ts"
import { ApprovalStore } from "../../layers/members/ApprovalStore.ts"
import { approvalPath, linkOf } from "../../schema/accounts/AccountMail.ts"
import { isRecord } from "../../schema/json/Json.ts"
import { AlertMailStore } from "../../layers/events/AlertMailStore.ts"
import type { DueMail, Outbox } from "../../layers/events/mailOutbox.ts"
import { Mailer } from "../../layers/accounts/Mailer.ts"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { PauseMails } from "../../layers/webhooks/PauseMails.ts"
import type { Written } from "../../schema/accounts/AccountMail.ts"
import { alertMail } from "../../schema/events/AlertMail.ts"
import { pauseMail } from "../../schema/webhooks/PauseMail.ts"

const claimMax = 20
/** Mail servers accept only a few parallel messages from one sender. */
const parallel = 4
/** About four hours: waits double from one minute up to one hour. */
const attemptsMax = 8
const forgetEvery = "1 hour"

export const AlertMails = Layer.effectDiscard(
  Effect.gen(function* () {
    const alerts = yield* AlertMailStore
    const pauses = yield* PauseMails
    const mailer = yield* Mailer
    const approvals = yield* ApprovalStore
    const address = addressOf(yield* Settings)
    const { whenDue } = yield* DueWork

    /** Logs mail ids only, so that the log holds no e-mail addresses. */
    const sender =
      <Kind extends string>(outbox: Outbox<Kind>, write: (mail: DueMail<Kind>) => Effect.Effect<Written | null>) =>
      (mail: DueMail<Kind>) => {
        const { mail_id, kind, address: to, is_member, attempts } = mail
        return Effect.flatMap(is_member ? write(mail) : Effect.succeed(null), (written) =>
          written === null ? Effect.void : mailer.send({ to, ...written })
        ).pipe(
          Effect.andThen(outbox.ended(mail_id, "sent")),
          Effect.catchTag("MailNotSent", ({ message }) =>
            attempts < attemptsMax
              ? Effect.logWarning(`alert mail ${mail_id} (${kind}) could not be sent and will be retried: ${message}`)
              : Effect.andThen(
                  Effect.logError(
                    `alert mail ${mail_id} (${kind}) could not be sent in ${attempts} attempts: ${message}`
                  ),
                  outbox.ended(mail_id, "failed")
                )
          ),
          Effect.catchCause((cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.failCause(cause)
              : Effect.logError(`sending alert mail ${mail_id} failed: ${oneLine(cause)}`)
          )
        )
      }

    const sendDue = <Kind extends string>(
      outbox: Outbox<Kind>,
      write: (mail: DueMail<Kind>) => Effect.Effect<Written | null>
    ) => {
      const send = sender(outbox, write)
      const pass = Effect.gen(function* () {
        let more = true
        while (more) {
          const due = yield* outbox.due(claimMax)
          yield* Effect.forEach(due, send, { concurrency: parallel, discard: true })
          more = due.length === claimMax
        }
      })
      return whenDue("alert mails", outbox.anyDue, pass)
    }
    yield* sendDue(alerts, ({ kind, data, address: to }) => {
      if (kind !== "run.approval_required" || !isRecord(data)) return Effect.sync(() => alertMail(address, kind, data))
      // Its link is stored as a digest, so the outbox does not have it. Null: nobody has to decide any more.
      return Effect.map(approvals.link(String(data["run_id"]), to), (token) =>
        token === null
          ? null
          : alertMail(address, kind, { ...data, link: linkOf(address, approvalPath, Redacted.value(token)) })
      )
    })
    yield* sendDue(pauses, ({ data }) => Effect.sync(() => pauseMail(address, data)))
    yield* repeatedly("deletion of old alert mails", forgetEvery, Effect.andThen(alerts.forget, pauses.forget))
  })
)
