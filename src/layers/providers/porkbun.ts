/**
 * Porkbun: whether a domain is free, what it costs, and its registration.
 *
 * Never raw. A registration costs what the registrar quotes for the name, so its adapter has to quote again in the same run
 * and refuse what exceeds the hold. Its offers wait for their adapters.
 */
import { domainCheck } from "../../schema/capabilities/domain.check.ts"
import { domainRegister, domainRegisterDefaultYears } from "../../schema/capabilities/domain.register.ts"
import { flat, metered } from "../../schema/Pricing.ts"
import { listed, provider } from "../../schema/Provider.ts"

const check = listed(domainCheck, {
  // $0.00025 × 1.2
  price: flat("0.0003"),
  note: "The registrar answers for free, once in ten seconds for an account; priced at $0.00025 for that share.",
  wraps: []
})

const register = listed(domainRegister, {
  // $11.08 per year × 1.2
  price: metered("0", "13.296", domainRegisterDefaultYears),
  note: "A year of a .com, assumed at $11.08. Names for which the registrar quotes more are refused.",
  wraps: []
})

export const porkbun = provider({
  slug: "porkbun",
  title: "Porkbun",
  homepage: "https://porkbun.com",
  base_url: "https://api.porkbun.com/api/json/v3",
  // A second key travels beside this one, X-Secret-API-Key: the adapter's matter.
  auth: { kind: "header", name: "X-API-Key" },
  excluded: "Domains belong to a workspace; use domain.check or domain.register.",
  // One check in ten seconds for an account.
  concurrency: 1,
  timeoutMillis: 60_000,
  offers: [check, register]
})
