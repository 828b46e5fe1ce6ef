/**
 * The address that passkeys belong to: RUNGATE_PUBLIC_URL, or localhost where a service without one was asked there. Its host is the RP ID,
 * and its origin is what a browser must have been at.
 */
import { Effect } from "effect"
import { Settings } from "../../layers/platform/Settings.ts"
import { problem } from "../../schema/Errors.ts"
import { issuerOf } from "../oauth/Issuer.ts"

const noSite = problem(
  "invalid_request",
  "Passkeys need a host name and https. Open the console at the service's public address (RUNGATE_PUBLIC_URL), or at http://localhost on the same machine."
)

const isSite = ({ protocol, hostname }: URL) =>
  /^(.+\.)?localhost$/.test(hostname) || (protocol === "https:" && !/^[\d.]+$|^\[/.test(hostname))

export const makeSite = Effect.map(Settings, (settings) =>
  Effect.flatMap(issuerOf(settings), (address) => {
    const site = new URL(address)
    return isSite(site) ? Effect.succeed(site) : Effect.fail(noSite)
  })
)
