/**
 * Where a test reads the service's mails: a real SMTP server on loopback, or the log that the service prints them to without one.
 *
 * Both answer the same questions, so both ways of sending run one suite.
 */
import { SMTPServer } from "smtp-server"
import { type App, until } from "./app.ts"

export interface Letter {
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface Mailbox {
  /** Settings of a service that sends here. */
  readonly settings: Readonly<Record<string, string>>
  /** All mails to an address that have arrived, oldest first. */
  readonly letters: (app: App, to: string) => ReadonlyArray<Letter>
  readonly stop: () => Promise<void>
}

/** The text of a mail as it travels: lines are folded with `=`, and some characters are written `=3D`. */
const unfolded = (raw: string): string => {
  const [head = "", ...rest] = raw.split("\r\n\r\n")
  const body = rest.join("\n\n").replaceAll("\r\n", "\n")
  if (!/quoted-printable/i.test(head)) return body
  const bytes = body
    .replace(/=\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, "latin1").toString("utf8")
}

export interface SmtpMailbox extends Mailbox {
  /** The raw mails, as they arrived. */
  readonly raw: ReadonlyArray<string>
  /** Refuses so many of the next mails. */
  readonly refuse: (count: number) => void
}

export const smtpMailbox = async (login?: { readonly user: string; readonly pass: string }): Promise<SmtpMailbox> => {
  const letters: Array<Letter> = []
  const raw: Array<string> = []
  let refusing = 0
  const server = new SMTPServer({
    hideSTARTTLS: true,
    authOptional: login === undefined,
    allowInsecureAuth: true,
    logger: false,
    onAuth: ({ username, password }, _session, done) =>
      username === login?.user && password === login?.pass
        ? done(null, { user: username })
        : done(new Error("Wrong user or password")),
    onData: (stream, session, done) => {
      const chunks: Array<Buffer> = []
      stream.on("data", (chunk: Buffer) => chunks.push(chunk))
      stream.on("end", () => {
        if (refusing > 0) {
          refusing -= 1
          return done(Object.assign(new Error("Try again later"), { responseCode: 451 }))
        }
        const text = Buffer.concat(chunks).toString("latin1")
        raw.push(text)
        const subject = /^Subject: (.*)$/m.exec(text)?.[1]?.trim() ?? ""
        for (const { address } of session.envelope.rcptTo) letters.push({ to: address, subject, text: unfolded(text) })
        done()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const user = login === undefined ? "" : `${encodeURIComponent(login.user)}:${encodeURIComponent(login.pass)}@`
  return {
    settings: {
      RUNGATE_SMTP_URL: `smtp://${user}127.0.0.1:${port}`,
      RUNGATE_MAIL_FROM: "Rungate <no-reply@example.com>"
    },
    letters: (_app, to) => letters.filter((one) => one.to === to),
    raw,
    refuse: (count) => {
      refusing = count
    },
    stop: () => new Promise<void>((resolve) => server.close(() => resolve()))
  }
}

/** Mails as the log has them; Bun's own inspection puts each message into a list of strings. */
export const logMailbox = (): Mailbox => ({
  settings: {},
  letters: ({ logs }, to) =>
    logs.flatMap((line) => {
      const [, address = "", subject = "", text = ""] = /Mail to (\S+): (.*?)\\n\\n([^]*)/.exec(line) ?? []
      return address === to ? [{ to, subject, text: text.replaceAll("\\n", "\n") }] : []
    }),
  stop: async () => {}
})

/** The n-th mail to an address, when it has arrived. */
export const letter = async (mailbox: Mailbox, app: App, to: string, n = 1): Promise<Letter> => {
  const found = await until(
    `mail ${n} to ${to}`,
    () => mailbox.letters(app, to),
    (letters) => letters.length >= n
  )
  return found[n - 1] ?? { to, subject: "", text: "" }
}

export const linkIn = ({ text }: Letter): URL => new URL(/https?:\/\/\S+\?token=\w+/.exec(text)?.[0] ?? "about:blank")
export const tokenIn = (mail: Letter): string => linkIn(mail).searchParams.get("token") ?? ""
