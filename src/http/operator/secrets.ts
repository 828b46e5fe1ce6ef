/**
 * Handlers of the commands that make secrets: `rungate admin orgs create`, `keys create`, `console` and `receipts rotate`. Loaded on
 * demand. The API has none of them, so that nobody makes a secret without access to the machine.
 *
 * Only digests are stored, so nobody can print the secrets again. The token of a link is in its fragment, which browsers send to no server,
 * so no log of a proxy has it. Secrets go to stdout, everything else to stderr.
 */
import { Console, Effect, Redacted } from "effect"
import type { FlagsOf } from "../cli/terminal/flags.ts"
import type { newKeyFlags } from "./flags.ts"
import { asOperator, onDatabase, operator, orgOf } from "./database.ts"
import { harmless } from "../cli/terminal/text.ts"
import { bad, failedWith } from "../cli/terminal/exits.ts"
import { print } from "./output.ts"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { linkMinutes, OperatorSessions } from "../../layers/operator/OperatorSessions.ts"
import { SigningKeys } from "../../layers/receipts/SigningKeys.ts"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"

const nameLengthMax = 200

type NewKey = FlagsOf<typeof newKeyFlags>

const isName = (name: string) => name.trim() !== "" && name.length <= nameLengthMax
const environmentHere = Effect.map(Settings, ({ mode }) => (mode === "sandbox" ? "test" : "live"))

/** Makes an organization without members, with an API key: the first step of a new service. */
export const createOrganization = (given: Omit<NewKey, "org_id">) =>
  Effect.gen(function* () {
    if (!isName(given.name)) return yield* bad(`The name must have 1 to ${nameLengthMax} characters.`)
    const name = given.name.trim()
    const accounts = yield* Accounts
    const environment = yield* environmentHere
    const org_id = yield* asOperator(accounts.createOrganization(name, null))
    const { id, token } = yield* Effect.orDie(
      asOperator(accounts.createKey(org_id, "created by the operator", environment))
    )
    const api_key = Redacted.value(token)
    if (given.json) return yield* print({ org_id, name, key_id: id, environment, api_key })
    yield* Console.log(api_key)
    yield* Console.error(
      `Created ${org_id} (${harmless(name)}) with the API key above. Store the key now; it is not shown again. To give the organization credit: rungate admin credit ${org_id} 10.00 --note welcome`
    )
  }).pipe(onDatabase)

export const createKey = ({ org_id, name, json }: NewKey) =>
  Effect.gen(function* () {
    if (!isName(name)) return yield* bad(`--name must have 1 to ${nameLengthMax} characters.`)
    const organization = yield* orgOf(org_id)
    const environment = yield* environmentHere
    const { id, token } = yield* (yield* Accounts).createKey(org_id, name.trim(), environment).pipe(
      asOperator,
      Effect.catchTag("TooManyKeys", () =>
        bad(`${org_id} has as many API keys as it may have. Revoke one first: rungate admin keys revoke <key_id>.`)
      )
    )
    const api_key = Redacted.value(token)
    if (json) return yield* print({ id, org_id, name: name.trim(), environment, api_key })
    yield* Console.log(api_key)
    yield* Console.error(
      `Created ${id} for ${org_id} (${harmless(organization.name)}). Store the key now; it is not shown again.`
    )
  }).pipe(onDatabase)

const signInPath = "/operator/sign-in"

export const consoleLink = (json: boolean) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const sessions = yield* OperatorSessions
    const { name } = yield* operator
    const { token, expires_at } = yield* asOperator(sessions.makeLink(name))
    const link = `${addressOf(settings)}${signInPath}#${Redacted.value(token)}`
    yield* json ? print({ link, operator: name, expires_at: expires_at.toISOString() }) : Console.log(link)
    yield* Console.error(
      `Open this link in a browser within ${linkMinutes} minutes. It works once, and whoever opens it can change every organization.`
    )
    if (settings.publicUrl === null)
      yield* Console.error("RUNGATE_PUBLIC_URL is not set, so the link contains the local address of this machine.")
  }).pipe(onDatabase)

/** Makes a new key that signs receipts and ledger heads. */
export const rotateReceiptKey = (json: boolean) =>
  Effect.gen(function* () {
    const keys = yield* SigningKeys
    const { encryptionKeys } = (yield* Settings).current()
    const key = yield* asOperator(keys.rotate).pipe(
      Effect.catchTag("SigningUnavailable", () =>
        failedWith("Another process changed the key at the same time. Run the command again.")
      )
    )
    if (json) return yield* print(key)
    yield* Console.log(key.key_id)
    yield* Console.error(
      key.replaced === null
        ? "Made the first key of receipts."
        : `Receipts are signed with this key from now on. The public key ${key.replaced} stays published, so older receipts stay valid.`
    )
    if (encryptionKeys.length === 0)
      yield* Console.error(
        "The private key is not encrypted in the database. Set RUNGATE_ENCRYPTION_KEY to encrypt it."
      )
  }).pipe(onDatabase)
