/** An organization's own accounts at providers: people set and remove them. Answers have the last four characters of a key only. */
import { Effect, Redacted, Schema } from "effect"
import { Catalog } from "../../../layers/catalog/Catalog.ts"
import { Endpoints } from "../../../layers/catalog/Endpoints.ts"
import { Settings } from "../../../layers/platform/Settings.ts"
import { OwnAccounts } from "../../../layers/provideraccounts/OwnAccounts.ts"
import { type AccountRow, ProviderAccounts } from "../../../layers/provideraccounts/ProviderAccounts.ts"
import { webhookUrl } from "../../../layers/webhooks/WebhookUrl.ts"
import type { Auth } from "../../../schema/catalog/Provider.ts"
import { problem, refused, refusedWith } from "../../../schema/Errors.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { listProviderAccounts, viaApi } from "../../../schema/Steps.ts"
import { ProviderAccount } from "../../../schema/nouns/ProviderAccount.ts"
import { didYouMean } from "../../../schema/suggestion.ts"
import { group } from "../group.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { makeAsCaller } from "../../middleware/Bearer.ts"

const accountJson = Schema.encodeSync(ProviderAccount)

/** Providers that take two secrets need both in one text. Null if the form is right. */
const formProblem = (auth: Auth, api_key: string): string | null => {
  const [first = "", ...rest] = api_key.split(":")
  const hasBoth = first !== "" && rest.join(":") !== ""
  if (auth.kind === "basic") return hasBoth ? null : "must be login:password for this provider"
  if (auth.kind === "client_credentials") return hasBoth ? null : "must be client_id:client_secret for this provider"
  if (auth.kind === "headers") return hasBoth ? null : `must be ${auth.names.join(":")} for this provider`
  return null
}

const notKept = (provider: string) =>
  problem(
    "provider_not_available",
    `This service can't store a key of ${provider}, because it has no key to encrypt it with. The operator can set RUNGATE_ENCRYPTION_KEY. Nothing was stored.`
  )

export const ProviderAccountsHandlers = group(
  "providerAccounts",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* ProviderAccounts
    const own = yield* OwnAccounts
    const catalog = yield* Catalog
    const endpoints = yield* Endpoints
    const asCaller = yield* makeAsCaller
    const { ownAccountAllowPrivate, ownAccountFee } = yield* Settings

    const view = (row: AccountRow) => accountJson({ ...row, fee: ownAccountFee })

    const authOf = Effect.fnUntraced(function* (slug: string) {
      const { providers } = endpoints.snapshot()
      const raw = providers.get(slug)
      const adapter = catalog.provider(slug)
      if (raw === undefined && adapter === undefined)
        return yield* refusedWith(
          "provider_not_found",
          withCommands`There is no provider "${slug}".${didYouMean(slug, providers.keys())} ${viaApi("GET", "/v1/catalog/providers")} lists them.`,
          [{ path: "path.provider", message: "is not a provider of this service" }]
        )
      const auth: Auth = adapter?.auth ?? raw?.document?.auth ?? { kind: "none" }
      if (auth.kind === "none" || auth.kind === "contact")
        return yield* refused("path.provider", `can't have an account of yours: ${slug} needs no key`)
      return auth
    })
    const missing = (slug: string) =>
      refused(
        "path.provider",
        "is not a provider at which this organization has an account",
        withCommands`You have no account at ${slug}; ${listProviderAccounts} lists yours.`
      )
    const addressOf = (text: string | null) => {
      if (text === null) return Effect.succeed(null)
      const checked = webhookUrl(text, ownAccountAllowPrivate)
      if (checked._tag === "Refused") return refused("base_url", checked.message.replace("/webhooks", ""))
      // A query would be lost, and it could be a secret, which is not encrypted here.
      if (new URL(checked.url).search !== "") return refused("base_url", "must not contain a query (?)")
      return Effect.succeed(checked.url.replace(/\/+$/, ""))
    }

    return handlers.handleAll({
      list: Effect.fnUntraced(function* () {
        const { org_id } = yield* CurrentCaller
        return { items: (yield* accounts.list(org_id)).map(view), next_cursor: null }
      }),
      get: Effect.fnUntraced(function* ({ params: { provider } }) {
        const { org_id } = yield* CurrentCaller
        yield* authOf(provider)
        const row = yield* accounts.find(org_id, provider)
        return row === null ? yield* missing(provider) : view(row)
      }),
      set: Effect.fnUntraced(function* ({ params: { provider }, payload }) {
        const { org_id } = yield* CurrentCaller
        const wrong = formProblem(yield* authOf(provider), payload.api_key)
        if (wrong !== null) return yield* refused("api_key", wrong)
        const base_url = yield* addressOf(payload.base_url ?? null)
        const api_key = Redacted.make(payload.api_key)
        const account = { api_key, base_url, fallback: payload.fallback ?? false }
        const row = yield* asCaller(accounts.set(org_id, provider, account)).pipe(
          Effect.catchTag("NoEncryptionKey", () => Effect.fail(notKept(provider)))
        )
        yield* own.changed(org_id)
        return view(row)
      }),
      remove: Effect.fnUntraced(function* ({ params: { provider } }) {
        const { org_id } = yield* CurrentCaller
        yield* authOf(provider)
        const removed = yield* asCaller(accounts.remove(org_id, provider))
        yield* own.changed(org_id)
        return removed ? { provider, deleted: true as const } : yield* missing(provider)
      })
    })
  })
)
