/**
 * Completes the OpenAPI document that is generated from the contract: servers, tags, headers, examples, and descriptions of responses.
 *
 * Request schemas stay closed, so a misspelled field is refused. Response schemas are open, because a later version may add fields.
 */
import { deprecations } from "../shapes/Deprecations.ts"
import { isRecord } from "../../../schema/json/Json.ts"
import { list, mapped, type Node, record, withDeprecations } from "./Deprecated.ts"
import { exampleOf } from "./exampleOf.ts"
import { componentHeaders, headersOf } from "./Headers.ts"
import { withLimits } from "../shapes/StatedLimits.ts"
import { operatorCookie } from "../operator/OperatorAuth.ts"

const tagDescriptions: Readonly<Record<string, string>> = {
  runs: "Run capabilities and raw endpoints; list, read and cancel runs.",
  batches: "Many runs in one request, with one limit on what they cost.",
  simulations: "What past runs would have cost and delivered under another routing policy. Free.",
  disputes: "The outcome warranty: refunds of runs whose address bounced.",
  receipts: "Signed statements about runs and the ledger, to keep and to verify without the service.",
  quotes: "What a run would cost, and whether it would be blocked. Free.",
  history: "What the organization has on record about a person, a company, a profile or a URL.",
  discovery: "Search the catalog, and list capabilities, providers and endpoints. Public.",
  catalog: "What a capability or a raw endpoint takes, returns and costs.",
  wallet: "Balance, ledger, audit and spend guard.",
  usage: "Counts and charges of runs in groups.",
  topups: "Checkout and automatic top-up.",
  referrals: "Referral code, terms and earnings.",
  keys: "API keys.",
  allowances: "API keys with an amount of the wallet's money, which other keys may give.",
  approvals: "Which runs need the yes of a member, and what the members said.",
  optOuts: "Addresses, domains and profiles that runs must not contact.",
  labelBudgets: "What runs with a label, such as a customer, may charge and hold.",
  configuration:
    "API keys, spend guard, webhooks, label budgets and approval rules as one document: exported, compared, and applied whole or not at all.",
  senders: "Domains from which the organization may send e-mail.",
  members: "The organization's people and their roles.",
  invitations: "Invitations to join the organization.",
  auditLog: "Who changed what in the organization.",
  providerAccounts: "The organization's own accounts at providers.",
  oauth: "Consent to connections of agents (OAuth).",
  webhooks: "Where events are posted, and what became of each delivery.",
  auth: "Sign-up, sign-in and sessions.",
  service: "What this service is. Public.",
  browser: "Sessions of the web console, in a cookie.",
  recovery: "E-mail verification and passwords.",
  passkeys: "Passkeys of the person who asks.",
  events: "Streams of what happens: runs, the wallet and alerts.",
  operatorOrganizations: "Organizations, as the operator of the service sees and changes them.",
  operatorImpersonation: "Looks into one organization's runs, read-only. For the operator of the service only.",
  operatorAuditLog: "Who changed what, everywhere. For the operator of the service only.",
  operatorCatalog: "Imports of raw endpoints. For the operator of the service only.",
  operatorBooks: "Audits of all wallets. For the operator of the service only.",
  operatorQueues: "Queues, lanes and dead-lettered commands. For the operator of the service only.",
  operatorOutcomes: "Calls whose outcome nobody knows. For the operator of the service only.",
  operatorDisputes: "Disputes of the outcome warranty. For the operator of the service only.",
  operatorOptOuts:
    "Addresses, domains and profiles that no organization's runs may contact. For the operator of the service only.",
  operatorInvitations: "Invitations to sign up. For the operator of the service only.",
  operatorPayments: "Payments of all organizations. For the operator of the service only.",
  operatorProviders: "Accounts, health, margins and losses of providers. For the operator of the service only.",
  operatorCredits: "What accounts at providers have left. For the operator of the service only.",
  operatorSession: "The operator's session in the console. For the operator of the service only."
}

const statusDescriptions: Readonly<Record<string, string>> = {
  200: "Success.",
  202: "Accepted. The work continues.",
  204: "The client has everything.",
  304: "Nothing changed since the response with this ETag.",
  400: "The request is not valid. `details` names every field that is wrong.",
  401: "The credential is missing, malformed, unknown, revoked or of the other environment.",
  402: "The wallet or a spend limit does not cover the request.",
  403: "The credential may not do this.",
  404: "There is no such capability, endpoint or provider.",
  408: "The request body did not arrive in time.",
  409: "The request conflicts with the current state.",
  410: "What the request asks for was deleted because of its age.",
  413: "The request body is larger than 1 MiB, or 8 MiB for a batch.",
  415: "The request body has a `Content-Type` that the operation does not take, such as one that is not JSON.",
  421: "The organization has moved to another cell of the service.",
  422: "This Idempotency-Key was used with another request.",
  429: "Too many requests. Wait for the seconds of `Retry-After`.",
  500: "An internal error. Quote the `request_id` when you report it.",
  502: "The provider failed.",
  503: "The service, or a part that it needs, is unavailable. Try again.",
  504: "The provider did not answer in time."
}

/** The responses of POST /v1/run. A run that ends without success is returned with the status of its error. */
const runStatuses: Readonly<Record<string, string>> = {
  200: "The run succeeded.",
  202: "The run is executing: `done` is false. Poll `poll_url`.",
  402: "The run, which was blocked or not paid for. `error` says why.",
  404: "The run, which ended as `no_match`; or an error without a run, because the capability or endpoint is unknown.",
  409: "The run, which was cancelled; or an error without a run, because no provider is available.",
  429: "The run, blocked because free runs have stored what they may today; or an error without a run: too many requests.",
  500: "The run, which failed inside the service; or an error without a run.",
  502: "The run, which failed at its providers. `outcome_unknown`: check whether it was carried out before you run it again.",
  504: "The run, whose providers did not answer in time."
}

/** By the parameter's name, or by operation and name where one operation means something else. */
const parameterDescriptions: Readonly<Record<string, string>> = {
  "idempotency-key":
    "Any unique string of 1 to 255 visible ASCII characters. A retry with the same key joins the same run.",
  prefer:
    "`wait=<seconds>` (RFC 7240), up to 120: how long the request waits for the end of the run. `respond-async` waits no time unless `wait` says more. What the body or the query says about waiting comes first. `Preference-Applied` repeats what was applied.",
  "allowances.create idempotency-key":
    "Any unique string of 1 to 255 visible ASCII characters. A retry with the same key answers the same allowance with a new API key, and the earlier one stops working.",
  allowance_id: "Id of an allowance, which is that of its key, `key_…`.",
  "if-none-match": "The ETag of an earlier response. While nothing has changed the response is 304.",
  "last-event-id": "`id` of the last event that the client has. The stream continues after it.",
  types: "Only events of these types, separated by commas, such as `run.finished,wallet.low`.",
  limit: "The maximum number of items in the response.",
  cursor: "`next_cursor` of the page before.",
  status: "Only runs in this status.",
  capability: "Only runs of this capability.",
  "batches.create capability": "With a CSV body, and required then: the capability that runs for each line.",
  "wallet.transactions type": "Only entries of this type.",
  "wallet.transactions run_id": "Only entries of this run.",
  label: "Name of a label in the metadata of runs, such as `customer`.",
  value: "Value of the label.",
  "labelBudgets.values id": "Only the value with this id, `val_…`, which `budget.reached` names.",
  period: "A month such as `2026-11`, or a day such as `2026-11-21`. The default is the present month.",
  map: "With a CSV body: which column fills which field, such as `full_name=Name,company_domain=Website`. Without it, the names of the columns decide: `First Name` fills `first_name`.",
  max_total: "With a CSV body: the most that all runs of the batch hold and charge together, such as `25.00`.",
  provider: "Slug of a provider.",
  endpoint: "Only raw runs of this endpoint path.",
  run_id: "Id of a run, `run_…`.",
  batch_id: "Id of a batch, `bat_…`.",
  from: "Only from this date or time on, UTC.",
  to: "Only before this time, UTC. A date includes its day.",
  group_by:
    "Up to two of `day`, `capability`, `provider`, `key`, `endpoint`, `status` and `metadata.<name>`, separated by a comma.",
  wait: "Seconds to wait for the end of the run.",
  key_id: "Id of an API key, `key_…`.",
  member_id: "Id of a member's user, `usr_…`.",
  keep_keys:
    "`true` keeps the API keys that the member created, each with the scope of a member's at most. Needs an owner.",
  actor: "Only changes by this actor: an id, an e-mail address, or `person`, `key`, `operator` or `system`.",
  action: "Only this action, such as `key.revoked`, or all that begin with `key`.",
  invitation_id: "Id of an invitation, `inv_…`.",
  endpoint_id: "Id of a webhook endpoint, `whe_…`.",
  delivery_id: "Id of a delivery, `whd_…`.",
  passkey_id: "Id of a passkey, `psk_…`.",
  user_id: "Id of a person, `usr_…`.",
  session_id: "Id of a session, `ses_…`.",
  opt_out_id: "Id of an opt-out, `opt_…`.",
  label_budget_id: "Id of a label budget, `lbl_…`.",
  approval_rule_id: "Id of an approval rule, `apr_…`.",
  sender_id: "Id of a sender, `snd_…`.",
  resolved: "`true` includes those with a finding.",
  decided: "`true` includes those that are decided, and those that no provider has confirmed so far.",
  state: "Only payments in this state.",
  days: "How many days to look back, 1 to 366. Without it 30.",
  command_id: "Id of a dead-lettered command, a number.",
  org_id: "Id of an organization, `org_…`.",
  search: "A part of the name or of a member's e-mail address, or the whole id.",
  q: "E-mail address, domain, profile URL, handle, phone number or text to look up.",
  kind: "How to read `q`. Detected if left out.",
  response_type: "Must be `code`.",
  client_id: "From `POST /oauth/register`, or the `https` address of the client's metadata document.",
  redirect_uri: "Exactly as the client registered it.",
  code_challenge: "The base64url of the SHA-256 digest of the verifier.",
  code_challenge_method: "Must be `S256`.",
  scope: "`run`, which is the default, or `lookup`.",
  "oauth.asked state": "Returned to the client.",
  resource: "The address of `/mcp`."
}

const parameterDescription = (id: string, name: string) =>
  parameterDescriptions[`${id} ${name}`] ?? parameterDescriptions[name]

/** Statuses that the middleware may return for any operation with a body. */
const bodyStatuses = new Set(["408", "413", "415"])
/** Errors that any operation may return. */
const commonErrors: Readonly<Record<string, string>> = { 500: "internal_error_error", 503: "service_unavailable_error" }

const errorSchema = (name: string) => ({
  content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } }
})

const namesIn = (node: unknown): ReadonlyArray<string> =>
  Array.from(JSON.stringify(node).matchAll(/"#\/components\/schemas\/([^"]+)"/g), (match) => match[1] ?? "")

/** Names of the schemas that these nodes refer to, directly or through other schemas. */
const reach = (schemas: Node, nodes: unknown): ReadonlySet<string> => {
  const names = new Set(namesIn(nodes))
  // The iteration of a Set includes the names that are added meanwhile.
  for (const name of names) for (const next of namesIn(schemas[name] ?? {})) names.add(next)
  return names
}

/** The same schema without `additionalProperties: false`, at any depth. */
const opened = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(opened)
  if (!isRecord(node)) return node
  const members = Object.entries(node).filter(([key, value]) => !(key === "additionalProperties" && value === false))
  return Object.fromEntries(members.map(([key, value]) => [key, opened(value)]))
}

const withExample = (body: Node, schemas: Node): Node => {
  const content = record(body["content"])
  const [type] = Object.keys(content)
  if (type === undefined) return body
  const media = record(content[type])
  return { ...body, content: { ...content, [type]: { ...media, example: exampleOf(media["schema"], schemas) } } }
}

const completedOperation = (operation: Node, schemas: Node): Node => {
  const id = String(operation["operationId"])
  const hasRequestBody = operation["requestBody"] !== undefined
  const security = Array.isArray(operation["security"]) ? operation["security"] : []
  const own = record(operation["responses"])
  const added = Object.entries(commonErrors).map(([status, name]) => [status, errorSchema(name)] as const)
  const responses = Object.entries({ ...Object.fromEntries(added), ...own }).flatMap(([status, response]) => {
    if (bodyStatuses.has(status) && !hasRequestBody) return []
    const described = {
      ...record(opened(response)),
      description: (id === "runs.run" ? runStatuses[status] : undefined) ?? statusDescriptions[status] ?? status,
      headers: headersOf(id, Number(status))
    }
    return [
      [status, withCsv(id, status, status.startsWith("2") ? withExample(described, schemas) : described)] as const
    ]
  })
  return {
    ...operation,
    security,
    parameters: [
      ...list(operation["parameters"]).map((one) => ({
        description: parameterDescription(id, String(one["name"])),
        ...one
      })),
      ...(id === "runs.list" ? [metadataParameter] : []),
      ...(id === "runs.get" ? [preferParameter] : [])
    ],
    ...(hasRequestBody ? { requestBody: withExample(record(operation["requestBody"]), schemas) } : {}),
    responses: Object.fromEntries(responses)
  }
}

/** Lists that are also answered as CSV. Only the document has this form, so the typed client decodes JSON. */
const csvLists = new Set(["runs.list", "wallet.transactions", "usage.get", "batches.results", "labelBudgets.statement"])
const csvContent = { "text/csv": { schema: { type: "string", description: "a header line and one line per row" } } }

const withCsv = (id: string, status: string, response: Node): Node =>
  csvLists.has(id) && status === "200"
    ? { ...response, content: { ...record(response["content"]), ...csvContent } }
    : response

/** Filters by label. OpenAPI writes members of an exploded object as parameters of their own. */
const metadataParameter = {
  name: "metadata",
  in: "query",
  required: false,
  style: "form",
  explode: true,
  schema: { type: "object", patternProperties: { "^metadata\\.": { type: "string" } }, additionalProperties: false },
  example: { "metadata.campaign": "spring" },
  description: "Only runs with this label, such as `metadata.campaign=spring`. Several labels must all match."
}

/** Only the document has it, so that the typed client needs no headers here. */
const preferParameter = {
  name: "prefer",
  in: "header",
  required: false,
  schema: { type: "string" },
  description: parameterDescriptions["prefer"]
}

const described = (document: Node): Node => {
  const components = record(document["components"])
  const schemas = record(components["schemas"])
  const paths = mapped(document["paths"], (item) => mapped(item, (one) => completedOperation(one, schemas)))
  const requests = Object.values(paths).flatMap((item) =>
    Object.values(record(item)).map((one) => record(one)["requestBody"] ?? {})
  )
  const closed = reach(schemas, requests)
  return {
    ...document,
    info: {
      ...record(document["info"]),
      license: { name: "MIT", identifier: "MIT" },
      contact: { name: "The operator of this service" }
    },
    servers: [{ url: "/", description: "This service" }],
    tags: list(document["tags"]).map((tag) => ({ ...tag, description: tagDescriptions[String(tag["name"])] })),
    paths,
    components: {
      ...components,
      schemas: mapped(schemas, (schema, name) => (closed.has(name) ? schema : record(opened(schema)))),
      headers: componentHeaders,
      // The page /docs offers Basic credentials unless the scheme is in lower case.
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description:
            "An API key (`rg_test_…` in the sandbox, `rg_live_…` in production) or a session token (`rg_sess_…`)."
        },
        operator: {
          type: "apiKey",
          in: "cookie",
          name: operatorCookie,
          description:
            "The session of the operator console, which `rungate admin console` opens. For the operator of the service only."
        }
      }
    }
  }
}

/** Adds to the generated document what the types of the contract do not contain. */
export const completed = (document: Node): Node => withLimits(withDeprecations(described(document), deprecations))
