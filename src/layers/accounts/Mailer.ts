/**
 * Sends e-mail over SMTP if `RUNGATE_SMTP_URL` is set. Otherwise it writes the e-mail to the service's log, where the operator of a sandbox
 * finds the links.
 *
 * One attempt with a timeout. The caller retries (actors/accounts/AccountMails.ts).
 */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { type MailServer, Settings } from "../platform/Settings.ts"

export interface Mail {
  readonly to: string
  readonly subject: string
  /** Plain text. */
  readonly text: string
}

export class MailNotSent extends Schema.TaggedError<MailNotSent>()("MailNotSent", { message: Schema.String }) {}

/** A server that greylists or scans takes seconds; one that takes longer is asked again later. */
const connectMillis = 10_000
const sendMillis = 30_000
const reasonCharsMax = 300

const loopback = ["localhost", "127.0.0.1", "[::1]"]
const ports: Readonly<Record<string, number>> = { "smtp:": 587, "smtps:": 465 }

const optionsOf = (server: MailServer) => {
  const { protocol, hostname, port, username, password } = new URL(Redacted.value(server.url))
  const user = decodeURIComponent(username)
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (ports[protocol] ?? 587) : Number(port),
    secure: protocol === "smtps:",
    // A password leaves this machine encrypted or not at all.
    requireTLS: protocol === "smtp:" && user !== "" && !loopback.includes(hostname),
    connectionTimeout: connectMillis,
    greetingTimeout: connectMillis,
    socketTimeout: sendMillis,
    // A mail is text of ours and never names a file or an address to fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(user === "" ? {} : { auth: { user, pass: decodeURIComponent(password) } })
  }
}

const reasonOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : "no answer").replace(/\s+/g, " ").slice(0, reasonCharsMax)

const overSmtp = Effect.fnUntraced(function* (server: MailServer) {
  // Loaded where it is needed: a sandbox starts without it.
  const { default: nodemailer } = yield* Effect.promise(() => import("nodemailer"))
  const transport = nodemailer.createTransport(optionsOf(server))
  const { from } = server
  return Mailer.of({
    send: ({ to, subject, text }) =>
      Effect.tryPromise({
        // An address object is never parsed as a list: one mail has one recipient.
        try: () => transport.sendMail({ from, to: { name: "", address: to }, subject, text }),
        catch: (cause) => new MailNotSent({ message: reasonOf(cause) })
      }).pipe(
        Effect.timeoutOrElse({
          duration: `${sendMillis} millis`,
          orElse: () => Effect.fail(new MailNotSent({ message: `no answer within ${sendMillis / 1000} s` }))
        }),
        Effect.asVoid
      )
  })
})

const toTheLog = Effect.gen(function* () {
  const { mode } = yield* Settings
  if (mode === "production") {
    yield* Effect.logWarning(
      "RUNGATE_SMTP_URL is not set: mails, such as those with a link for a new password, are printed to this log and not sent."
    )
  }
  return Mailer.of({
    send: ({ to, subject, text }) => Effect.logInfo(`Mail to ${to}: ${subject}\n\n${text}`)
  })
})

export class Mailer extends Context.Service<
  Mailer,
  { readonly send: (mail: Mail) => Effect.Effect<void, MailNotSent> }
>()("rungate/layers/accounts/Mailer") {
  static readonly layer = Layer.effect(
    Mailer,
    Effect.gen(function* () {
      const { mail } = yield* Settings
      return mail === null ? yield* toTheLog : yield* overSmtp(mail)
    })
  )
}
