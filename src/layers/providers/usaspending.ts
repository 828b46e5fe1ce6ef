/**
 * USAspending: contracts, grants and loans that the United States government awards, and who receives them.
 *
 * Public data, free of charge. Its offers wait for their adapters.
 */
import { govContracts } from "../../schema/capabilities/gov.contracts.ts"
import { govEntity } from "../../schema/capabilities/gov.entity.ts"
import { flat } from "../../schema/Pricing.ts"
import { listed, provider } from "../../schema/Provider.ts"

const free = flat("0.00")
const note = "Public data of the United States government, free of charge."

const contracts = listed(govContracts, {
  price: free,
  note,
  wraps: [{ method: "POST", path: "/api/v2/search/spending_by_award/" }]
})

const entity = listed(govEntity, {
  price: free,
  note: `${note} Recipients of awards only.`,
  wraps: [
    { method: "POST", path: "/api/v2/autocomplete/recipient/" },
    { method: "POST", path: "/api/v2/recipient/" },
    { method: "GET", path: "/api/v2/recipient/{recipient_id}/" }
  ],
  serves: (input) => input.name !== undefined || input.uei !== undefined
})

export const usaspending = provider({
  slug: "usaspending",
  title: "USAspending",
  homepage: "https://www.usaspending.gov",
  base_url: "https://api.usaspending.gov",
  auth: { kind: "none" },
  free: true,
  concurrency: 5,
  timeoutMillis: 30_000,
  offers: [contracts, entity]
})
