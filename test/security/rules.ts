/** OWASP's rules for Spectral. Those that are changed or turned off for this service have the reason beside them. */
import type { RulesetDefinition } from "@stoplight/spectral-core"
import owasp from "@stoplight/spectral-owasp-ruleset"

/** The operations that anybody may call: the public catalog, and what signs somebody in. */
const open = new Set([
  "service.get",
  "discovery.discover",
  "discovery.capabilities",
  "discovery.providers",
  "discovery.provider",
  "discovery.endpoints",
  "auth.signUp",
  "auth.signIn",
  "browser.signUp",
  "browser.signIn",
  "browser.startPasskey",
  "browser.passkey",
  "browser.accept",
  "invitations.preview",
  "invitations.accept",
  "recovery.verifyEmail",
  "recovery.requestPasswordReset",
  "recovery.resetPassword",
  "operatorSession.signIn"
])

type Operation = { readonly operationId?: string; readonly security?: ReadonlyArray<object> }

const isOpen = ({ security = [] }: Operation) =>
  security.length === 0 || security.some((one) => Object.keys(one).length === 0)

const operations = "$.paths[*][get,post,put,patch,delete]"
const takesKey = "$.paths[*][?(@ && @.security && @.security[0] && @.security[0].bearer)].responses"

export const rules: RulesetDefinition = {
  extends: [[owasp as RulesetDefinition, "all"]],
  rules: {
    // Replaced: OWASP's rules have no list of operations that are open on purpose.
    "owasp:api2:2023-write-restricted": "off",
    "owasp:api2:2023-read-restricted": "off",
    restricted: {
      message: "{{error}}",
      severity: "error",
      given: operations,
      // oxlint-disable-next-line unicorn/no-thenable -- the name is Spectral's
      then: {
        function: (operation: unknown) => {
          const { operationId = "", ...rest } = operation as Operation
          if (isOpen(rest) === open.has(operationId)) return []
          return [{ message: `${operationId} ${isOpen(rest) ? "needs no credential" : "is not open"}` }]
        }
      }
    },
    // Narrowed: what is open refuses nobody with 401, and the operator's operations answer 403 without the operator's cookie.
    "owasp:api8:2023-define-error-responses-401": {
      ...(owasp as RulesetDefinition & { rules: Record<string, object> }).rules[
        "owasp:api8:2023-define-error-responses-401"
      ],
      severity: "error",
      given: takesKey
    } as never,
    // Names, notes, reasons and messages are free text, which no pattern describes.
    "owasp:api4:2023-string-restricted": "off",
    // No answer has a CORS header, so no page of another origin may read one.
    "owasp:api8:2023-define-cors-origin": "off",
    // Each installation describes itself and has one server, "/", which is neither internal nor of a named environment.
    "owasp:api9:2023-inventory-access": "off",
    "owasp:api9:2023-inventory-environment": "off"
  }
}
