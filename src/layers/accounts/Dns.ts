/**
 * Looks up DNS TXT records with a timeout of a few seconds and a size limit. Control characters are removed from the answer.
 *
 * It uses the system's name servers or those of RUNGATE_DNS_SERVERS. Name servers cache answers, negative ones too.
 */
import { Resolver } from "node:dns/promises"
import { Effect, Semaphore } from "effect"
import { Settings } from "../platform/Settings.ts"

/** Timeout of one query to one server. A server is queried twice. */
const serverMillis = 2_000
/** Timeout of a look-up over all servers. */
const lookupMillis = 6_000
/** Concurrent look-ups of one process, because each one opens sockets. */
const lookupsMax = 20
/** Real domains have about ten TXT records at one name. */
const recordsMax = 100
const recordLengthMax = 512

export type Texts =
  | { readonly _tag: "Found"; readonly records: ReadonlyArray<string> }
  /** The name does not exist, or has no TXT record. */
  | { readonly _tag: "None" }
  /** No server answered, or one answered with an error, so nothing is known about the name. */
  | { readonly _tag: "Failed"; readonly code: string }

/** The name does not exist, or it has no record of this type. */
const absentCodes = new Set(["ENOTFOUND", "ENODATA"])

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code.replace(/^(?:DNS_)/, "").slice(0, 40)
    : "UNKNOWN"

const sanitized = (record: string): string =>
  record
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?")
    .slice(0, recordLengthMax)

/** Looks up the TXT records of a name. */
export const makeTextRecords = Effect.gen(function* () {
  const { dnsServers } = yield* Settings
  const slots = yield* Semaphore.make(lookupsMax)

  const lookUp = (name: string) =>
    Effect.callback<Texts>((resume) => {
      const resolver = new Resolver({ timeout: serverMillis, tries: 2 })
      if (dnsServers.length > 0) resolver.setServers([...dnsServers])
      resolver.resolveTxt(name).then(
        (records) => {
          // DNS splits a long record into several strings.
          const joined = records.slice(0, recordsMax).map((parts) => sanitized(parts.join("")))
          resume(Effect.succeed(joined.length === 0 ? { _tag: "None" } : { _tag: "Found", records: joined }))
        },
        (error: unknown) => {
          const code = codeOf(error)
          resume(Effect.succeed(absentCodes.has(code) ? { _tag: "None" } : { _tag: "Failed", code }))
        }
      )
      return Effect.sync(() => resolver.cancel())
    })

  return (name: string) =>
    slots
      .withPermits(1)(lookUp(name))
      .pipe(
        Effect.timeoutOrElse({
          duration: `${lookupMillis} millis`,
          orElse: () => Effect.succeed<Texts>({ _tag: "Failed", code: "ETIMEOUT" })
        })
      )
})
