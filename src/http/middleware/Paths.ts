/** Paths that are not part of the API's contract: tools, webhooks, and the pages to which a checkout returns. */
export const mcpPath = "/mcp"
export const webhookPath = "/v1/webhooks/stripe"
/** After the path above, which is more specific. */
export const providerEventsPath = "/v1/webhooks/:provider"
export const successPath = "/top-up/success"
export const cancelPath = "/top-up/cancelled"
export const statusPath = "/status"
