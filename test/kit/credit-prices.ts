/**
 * The prices of credits that most tests run with. Their amounts were written for these plans, and they show that the settings are used.
 *
 * Tests that compare with the adapters' own prices run with `asShipped`.
 */
export const plans = {
  RUNGATE_PROVIDER_LEADMAGIC_CREDIT_USD: "0.01",
  RUNGATE_PROVIDER_FIRECRAWL_CREDIT_USD: "0.00083",
  RUNGATE_PROVIDER_SCRAPECREATORS_CREDIT_USD: "0.000994"
}

export const asShipped = Object.fromEntries(Object.keys(plans).map((name) => [name, ""]))
