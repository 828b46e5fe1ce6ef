/**
 * Looks up DNS TXT records with a timeout of a few seconds and a size limit. Control characters are removed from the answer.
 *
 * It uses the system's name servers or those of RUNGATE_DNS_SERVERS. Name servers cache answers, negative ones too.
 */
import { Resolver } from "node:dns/promises"
import { Context, Effect, Layer, Semaphore } from "effect"
import { Settings } from "../platform/Settings.ts"

/** A resolver gives up on one server after this, and asks twice. */
const serverMillis = 2_000
const answerMillis = 6_000
/** Questions of one process at once, so that a flood of verifications opens no flood of sockets. */
const lookupsMax = 20
/** Real domains have some ten TXT records at one name. */
const recordsMax = 100
const recordLengthMax = 512

export type Texts =
  | { readonly _tag: "Found"; readonly records: ReadonlyArray<string> }
  /** The name does not exist, or has no TXT record. */
  | { readonly _tag: "None" }
  /** Nobody knows: no server answered, or it answered with an error. */
  | { readonly _tag: "Failed"; readonly code: string }

/** No such name; no record of this type. */
const absent = new Set(["ENOTFOUND", "ENODATA"])

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code.replace(/^(?:DNS_)/, "").slice(0, 40)
    : "UNKNOWN"

const plain = (record: string): string =>
  record
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?")
    .slice(0, recordLengthMax)

export class Dns extends Context.Service<
  Dns,
  {
    readonly texts: (name: string) => Effect.Effect<Texts>
  }
>()("rungate/layers/accounts/Dns") {
  static readonly layer = Layer.effect(
    Dns,
    Effect.gen(function* () {
      const { dnsServers } = yield* Settings
      const slots = yield* Semaphore.make(lookupsMax)

      const ask = (name: string) =>
        Effect.callback<Texts>((resume) => {
          const resolver = new Resolver({ timeout: serverMillis, tries: 2 })
          if (dnsServers.length > 0) resolver.setServers([...dnsServers])
          resolver.resolveTxt(name).then(
            (records) => {
              // A record is a list of strings. Some resolvers answer each as a record of its own.
              const found = records.slice(0, recordsMax).map((parts) => plain(parts.join("")))
              resume(Effect.succeed(found.length === 0 ? { _tag: "None" } : { _tag: "Found", records: found }))
            },
            (error: unknown) => {
              const code = codeOf(error)
              resume(Effect.succeed(absent.has(code) ? { _tag: "None" } : { _tag: "Failed", code }))
            }
          )
          return Effect.sync(() => resolver.cancel())
        })

      return Dns.of({
        texts: (name) =>
          slots
            .withPermits(1)(ask(name))
            .pipe(
              Effect.timeoutOrElse({
                duration: `${answerMillis} millis`,
                orElse: () => Effect.succeed<Texts>({ _tag: "Failed", code: "ETIMEOUT" })
              })
            )
      })
    })
  )
}
