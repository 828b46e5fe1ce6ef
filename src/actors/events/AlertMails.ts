/** Sends e-mails about alerts. Every process looks for due ones every few seconds, and a failed one is retried for about four hours. */
import { Cause, Effect, Layer, Schedule } from "effect"
import { oneLine } from "../../layers/postgres/Batch.ts"
import { AlertMailStore, type DueAlert } from "../../layers/events/AlertMailStore.ts"
import { Mailer } from "../../layers/accounts/Mailer.ts"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { alertMail } from "../../schema/events/AlertMail.ts"

const pollEvery = "2 seconds"
const claimMax = 20
/** Mail servers accept only a few parallel messages from one sender. */
const parallel = 4
/** About four hours: waits double from one minute up to one hour. */
const attemptsMax = 8
const forgetEveryPolls = 1_800

export const AlertMails = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* AlertMailStore
    const mailer = yield* Mailer
    const address = addressOf(yield* Settings)

    /** Logs mail ids only, so that the log holds no e-mail addresses. */
    const send = ({ mail_id, kind, data, address: to, attempts }: DueAlert) =>
      Effect.suspend(() => mailer.send({ to, ...alertMail(address, kind, data) })).pipe(
        Effect.andThen(store.ended(mail_id, "sent")),
        Effect.catchTag("MailNotSent", ({ message }) =>
          attempts < attemptsMax
            ? Effect.logWarning(`alert mail ${mail_id} (${kind}) could not be sent and will be retried: ${message}`)
            : Effect.andThen(
                Effect.logError(
                  `alert mail ${mail_id} (${kind}) could not be sent in ${attempts} attempts: ${message}`
                ),
                store.ended(mail_id, "failed")
              )
        ),
        Effect.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.failCause(cause)
            : Effect.logError(`sending alert mail ${mail_id} failed: ${oneLine(cause)}`)
        )
      )

    let polls = 0
    const poll = Effect.gen(function* () {
      let more = true
      while (more) {
        const due = yield* store.due(claimMax)
        yield* Effect.forEach(due, send, { concurrency: parallel, discard: true })
        more = due.length === claimMax
      }
      polls += 1
      if (polls % forgetEveryPolls === 0) yield* store.forget
    }).pipe(Effect.catchCause((cause) => Effect.logWarning(`sending alert mails will be retried: ${oneLine(cause)}`)))
    yield* Effect.forkScoped(Effect.repeat(poll, Schedule.spaced(pollEvery)))
  })
)
