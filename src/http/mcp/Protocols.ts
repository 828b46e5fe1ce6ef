/** The supported protocol revisions, and the description of the server for every transport. */
import { McpProtocol } from "effect/ai"

/** Newest first. A host that offers none of them gets the newest revision with sessions. */
export const protocols = [
  McpProtocol.v2025_11_25,
  McpProtocol.v2025_06_18,
  McpProtocol.v2025_03_26,
  McpProtocol.v2024_11_05,
  McpProtocol.v2026_07_28
] as const

/** Constant for the life of the process. Hosts ask again when they start another. */
const unchanging = { ttl: "1 hour", cacheScope: "private" } as const

export const about = {
  name: "rungate",
  description: "One API and one prepaid wallet for 31 data and outreach providers",
  protocols,
  cacheHints: { discover: unchanging, tools: unchanging, resourceTemplates: unchanging }
} as const
