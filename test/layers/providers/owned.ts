/** Gives an organization whatever the adapters' recorded inputs name: inboxes, senders, accounts and conversations. */
import { providers } from "../../../src/layers/providers/index.ts"
import { capabilities } from "../../../src/schema/capabilities/index.ts"
import type { App } from "../../kit/app.ts"
import type { Recorded } from "./stage.ts"

const offerOf = (provider: string, capability: string) =>
  providers.find((one) => one.slug === provider)?.offers.find((one) => one.capability === capability)

export const ownWhatScenesName = async (app: App, org_id: string, scenes: ReadonlyArray<Recorded>) => {
  for (const { capability, provider, input } of scenes) {
    const named = capabilities.find((one) => one.slug === capability)?.uses(input) ?? []
    for (const { kinds, id } of named) {
      const through = offerOf(provider, capability)?.through ?? null
      const kind = kinds.find((one) => through === null || one === through) ?? "job"
      const of = kind === "account" || kind === "job" ? provider : ""
      await app.sql(
        "INSERT INTO owned_resources (kind, resource_id, provider, org_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        [kind, of === "" ? id.toLowerCase() : id, of, org_id]
      )
    }
  }
}
