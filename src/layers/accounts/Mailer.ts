/**
 * Sends e-mail over SMTP if `RUNGATE_SMTP_URL` is set. Otherwise mail is off: a sandbox writes the e-mail to the service's log, where the
 * operator finds the links. Production sends and logs nothing, because who reads the log could use the links.
 *
 * It makes one attempt with a timeout. The caller retries (actors/accounts/AccountMails.ts).
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

/** A server that greylists or scans e-mails takes seconds. The caller retries later if it takes longer. */
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
    // Never send the password over an unencrypted connection.
    requireTLS: protocol === "smtp:" && user !== "" && !loopback.includes(hostname),
    connectionTimeout: connectMillis,
    greetingTimeout: connectMillis,
    socketTimeout: sendMillis,
    // The e-mails are plain text from this service. They never attach a file or fetch a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(user === "" ? {} : { auth: { user, pass: decodeURIComponent(password) } })
  }
}

const reasonOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : "no answer").replace(/\s+/g, " ").slice(0, reasonCharsMax)

type Send = (mail: Mail) => Effect.Effect<void, MailNotSent>

const smtpSend = Effect.fnUntraced(function* (server: MailServer) {
  // Loaded only here, because most sandboxes send no e-mail and start faster without it.
  const { default: nodemailer } = yield* Effect.promise(() => import("nodemailer"))
  const transport = nodemailer.createTransport(optionsOf(server))
  const { from } = server
  const send: Send = ({ to, subject, text }) =>
    Effect.tryPromise({
      // An address object, because nodemailer would parse a string as a list of recipients.
      try: () => transport.sendMail({ from, to: { name: "", address: to }, subject, text }),
      catch: (cause) => new MailNotSent({ message: reasonOf(cause) })
    }).pipe(
      Effect.timeoutOrElse({
        duration: `${sendMillis} millis`,
        orElse: () => Effect.fail(new MailNotSent({ message: `no answer within ${sendMillis / 1000} s` }))
      }),
      Effect.asVoid
    )
  return send
})

const logSend: Send = ({ to, subject, text }) => Effect.logInfo(`Mail to ${to}: ${subject}\n\n${text}`)

/** The caller retries for hours, so the e-mail is sent if the setting is set and reloaded meanwhile. */
const refuse: Send = () => Effect.fail(new MailNotSent({ message: "RUNGATE_SMTP_URL is not set" }))

export class Mailer extends Context.Service<
  Mailer,
  { readonly send: (mail: Mail) => Effect.Effect<void, MailNotSent> }
>()("rungate/layers/accounts/Mailer") {
  static readonly layer = Layer.effect(
    Mailer,
    Effect.gen(function* () {
      const { current, mode } = yield* Settings
      if (mode === "production" && current().mail === null) {
        yield* Effect.logWarning(
          "Mail is off: RUNGATE_SMTP_URL is not set. No e-mail is sent, such as password resets, invitations and alerts. Set it to an SMTP server, and run rungate admin reload."
        )
      }
      const withoutServer = mode === "production" ? refuse : logSend
      const sendTo = (server: MailServer | null) => (server === null ? Effect.succeed(withoutServer) : smtpSend(server))
      // A reload replaces the server.
      let connection = { server: current().mail, send: yield* sendTo(current().mail) }
      return Mailer.of({
        send: Effect.fnUntraced(function* (mail) {
          const server = current().mail
          if (connection.server !== server) connection = { server, send: yield* sendTo(server) }
          return yield* connection.send(mail)
        })
      })
    })
  )
}
