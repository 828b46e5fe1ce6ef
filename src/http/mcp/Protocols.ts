/** Which revisions of the protocol are spoken, and what every transport says of the server. */
import { McpProtocol } from "effect/ai"

/** Newest first: a host that offers none of them is answered with the newest that has sessions. */
export const protocols = [
  McpProtocol.v2025_11_25,
  McpProtocol.v2025_06_18,
  McpProtocol.v2025_03_26,
  McpProtocol.v2024_11_05,
  McpProtocol.v2026_07_28
] as const

/** As long as this process lives, and hosts ask anew when they start another. */
const unchanging = { ttl: "1 hour", cacheScope: "private" } as const

export const about = {
  name: "rungate",
  description: "A paid execution front door for data and outreach jobs",
  protocols,
  cacheHints: { discover: unchanging, tools: unchanging, resourceTemplates: unchanging }
} as const
