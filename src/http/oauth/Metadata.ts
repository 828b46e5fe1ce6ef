/** What a host reads to connect by address alone: the metadata of the resource (RFC 9728) and of the authorization server (RFC 8414). */
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { Settings } from "../../layers/platform/Settings.ts"
import { oauthScopes } from "../../schema/oauth/Scope.ts"
import { mcpPath } from "../middleware/Paths.ts"
import { rateLimitedPage } from "../middleware/RequestChecks.ts"
import { oauthAnswer } from "./Answers.ts"
import {
  authorizePath,
  issuerOf,
  registerPath,
  resourceMetadataPath,
  resourceOf,
  revokePath,
  serverMetadataPath,
  tokenPath
} from "./Issuer.ts"

const resourceMetadata = (issuer: string) => ({
  resource: resourceOf(issuer),
  resource_name: "Rungate",
  resource_documentation: `${issuer}/docs/mcp.md`,
  authorization_servers: [issuer],
  scopes_supported: oauthScopes,
  bearer_methods_supported: ["header"]
})

const serverMetadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}${authorizePath}`,
  token_endpoint: `${issuer}${tokenPath}`,
  registration_endpoint: `${issuer}${registerPath}`,
  revocation_endpoint: `${issuer}${revokePath}`,
  scopes_supported: oauthScopes,
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  grant_types_supported: ["authorization_code", "refresh_token"],
  token_endpoint_auth_methods_supported: ["none"],
  revocation_endpoint_auth_methods_supported: ["none"],
  code_challenge_methods_supported: ["S256"],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
  service_documentation: `${issuer}/docs/mcp.md`
})

export const MetadataRoutes = Layer.unwrap(
  Effect.gen(function* () {
    const settings = yield* Settings
    const answer = (document: (issuer: string) => unknown) =>
      rateLimitedPage(Effect.map(issuerOf(settings), (issuer) => oauthAnswer(document(issuer))))
    return Layer.mergeAll(
      HttpRouter.add("GET", resourceMetadataPath, answer(resourceMetadata)),
      HttpRouter.add("GET", `${resourceMetadataPath}${mcpPath}`, answer(resourceMetadata)),
      HttpRouter.add("GET", serverMetadataPath, answer(serverMetadata)),
      // Where clients look whose issuer has a path, and older clients of the protocol.
      HttpRouter.add("GET", `${serverMetadataPath}${mcpPath}`, answer(serverMetadata))
    )
  })
)
