/** The contract of an organization's own accounts at providers. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { byAdmins, optional, reads } from "../shapes/Common.ts"
import { Wire } from "../../../schema/Errors.ts"
import { ProviderAccount } from "../../../schema/nouns/ProviderAccount.ts"
import { component, provider, withExample } from "../../../schema/nouns/Noun.ts"

export const keyLengthMin = 8
const keyLengthMax = 1_000
/** Space is allowed inside: a password may have one. */
const ApiKey = Schema.String.check(
  Schema.isMinLength(keyLengthMin),
  Schema.isMaxLength(keyLengthMax),
  Schema.isPattern(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/)
).annotate({
  description:
    "the key of your account, in ASCII. For a provider with a login and a password: login:password. For a provider with two keys: first:second. It is encrypted, and no answer shows more than its last four characters"
})

export const ProviderAccountPage = Schema.Struct({ items: Schema.Array(ProviderAccount), next_cursor: Schema.Null })

export class ProviderAccountsApi extends HttpApiGroup.make("providerAccounts").add(
  reads(
    "List your accounts at providers",
    "In the order of the providers' names, at most one for each provider.",
    "provider-accounts list"
  ).get("list", "/provider-accounts", { success: ProviderAccountPage }),
  reads("Get your account at a provider", "Without its key.").get("get", "/provider-accounts/:provider", {
    success: ProviderAccount,
    error: [Wire.provider_not_found]
  }),
  byAdmins(
    "Set your account at a provider",
    "Replaces the account. Runs of your organization that begin afterwards call the provider through it, for the fee.",
    "provider-accounts set"
  ).put("set", "/provider-accounts/:provider", {
    payload: component("ProviderAccountRequest", {
      api_key: ApiKey,
      base_url: optional(
        Schema.NonEmptyString.check(Schema.isMaxLength(2_000)).annotate({
          description: "an https URL with a public address, if your account has one of its own"
        })
      ),
      fallback: optional(
        Schema.Boolean.annotate({
          description:
            "call this service's account, at its own price, if the provider refuses your key (401, 402 or 403). Default: false"
        })
      )
    }).pipe(withExample({ api_key: "YOUR_HUNTER_KEY", fallback: true })),
    success: ProviderAccount,
    error: [Wire.provider_not_found, Wire.provider_not_available]
  }),
  byAdmins(
    "Remove your account at a provider",
    "The key is deleted, and no call uses it any more.",
    "provider-accounts remove"
  ).delete("remove", "/provider-accounts/:provider", {
    success: component("RemovedProviderAccount", { provider, deleted: Schema.Literal(true) }),
    error: [Wire.provider_not_found]
  })
) {}
