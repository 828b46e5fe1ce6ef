/** The routes of the authorization server for /mcp: metadata, registration, tokens and revocation. Consent is api/accounts/Authorization.ts. */
import { Layer } from "effect"
import type { Limits } from "../middleware/Limits.ts"
import { MetadataRoutes } from "./Metadata.ts"
import { RegisterRoute } from "./Register.ts"
import { TokenRoutes } from "./Token.ts"

export const OAuthRoutes = Layer.mergeAll(MetadataRoutes, RegisterRoute, TokenRoutes)

/** Services that these routes need. */
export type OAuthServices = Limits
