/**
 * What `rungate admin keys create` does: creates an API key for an organization and prints it once.
 *
 * Only the key's digest is stored, so nobody can print it again. The key goes to stdout, everything else to stderr.
 */
import { Console, Effect, Redacted } from "effect"
import { asOperator, bad, known, onDatabase, plain, print } from "./output.ts"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { Settings } from "../../layers/platform/Settings.ts"

const nameLengthMax = 200

export interface NewKey {
  readonly org_id: string
  readonly name: string
  readonly json: boolean
}

export const createKey = ({ org_id, name, json }: NewKey) =>
  Effect.gen(function* () {
    if (name.trim() === "" || name.length > nameLengthMax)
      return yield* bad(`--name must have 1 to ${nameLengthMax} characters.`)
    const organization = yield* known(org_id)
    const { mode } = yield* Settings
    const environment = mode === "sandbox" ? "test" : "live"
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
      `Created ${id} for ${org_id} (${plain(organization.name)}). Store the key now; it is not shown again.`
    )
  }).pipe(onDatabase)
