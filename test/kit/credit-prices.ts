/**
 * The prices of credits that most tests run with. Their amounts were written for these plans, and they show that the settings are used.
 *
 * Tests that compare with the adapters' own prices run with `asShipped`.
 */
export const plans = {
  RUNGATE_PROVIDER_LEADMAGIC_CREDIT_USD: "0.01",
  RUNGATE_PROVIDER_FIRECRAWL_CREDIT_USD: "0.00083",
  RUNGATE_PROVIDER_FINDYMAIL_CREDIT_USD: "0.049",
  RUNGATE_PROVIDER_ICYPEAS_CREDIT_USD: "0.04",
  RUNGATE_PROVIDER_TOMBA_CREDIT_USD: "0.045",
  RUNGATE_PROVIDER_SNOVIO_CREDIT_USD: "0.05",
  RUNGATE_PROVIDER_APOLLO_CREDIT_USD: "0.025",
  RUNGATE_PROVIDER_PEOPLEDATALABS_CREDIT_USD: "0.28",
  RUNGATE_PROVIDER_SCRAPECREATORS_CREDIT_USD: "0.000994"
}

export const asShipped = Object.fromEntries(Object.keys(plans).map((name) => [name, ""]))
