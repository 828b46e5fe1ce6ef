/** The supported protocol revisions, and the description of the server for every transport. */
import packageJson from "../../../package.json" with { type: "json" }
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
  /** The package's, whichever way the tools are reached. */
  version: packageJson.version,
  description: "One API and one prepaid wallet for data and outreach providers",
  protocols,
  cacheHints: { discover: unchanging, tools: unchanging, resourceTemplates: unchanging }
} as const
