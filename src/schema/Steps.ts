/** The next steps that messages and hints suggest: requests, and the commands that do the same. Each command works when it is pasted. */
import type { CommandHint } from "./Hints.ts"

const step = (http: string, cli: string): CommandHint => ({ http, cli })

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  /^[A-Za-z0-9_./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

export const discover = step("POST /v1/discover", "rungate discover 'what you need'")
export const signIn = step("POST /v1/auth/sign-in", "rungate login")
export const topUp = step("POST /v1/wallet/topups/checkout", "rungate wallet topup 25.00")
export const spendGuard = step("/v1/spend-guard", "rungate spend-guard")
export const createKey = step("POST /v1/api-keys", "rungate keys create")
export const raiseLabelBudget = step(
  "PUT /v1/label-budgets",
  "rungate label-budgets set <label> --value <value> --limit 10 --period day"
)
export const listLabelBudgets = step("GET /v1/label-budgets", "rungate label-budgets list")
export const listApprovalRules = step("GET /v1/approval-rules", "rungate approval-rules list")
export const raiseBudget = step("PATCH /v1/api-keys/{key_id}", "rungate keys update <key_id> --budget 10/day")
export const revokeKey = step("DELETE /v1/api-keys/{key_id}", "rungate keys revoke <key_id>")
export const createAllowance = step(
  "POST /v1/allowances",
  "rungate allowances create researcher --amount 2.00 --expires 2h"
)
export const listAllowances = step("GET /v1/allowances", "rungate allowances list")
export const listSenders = step("GET /v1/senders", "rungate senders list")
export const listMembers = step("GET /v1/members", "rungate members list")
export const listInvitations = step("GET /v1/invitations", "rungate invite list")
export const listWebhooks = step("GET /v1/webhook-endpoints", "rungate webhooks list")
export const listProviderAccounts = step("GET /v1/provider-accounts", "rungate provider-accounts list")
export const setProviderAccount = (provider: string) =>
  step(`PUT /v1/provider-accounts/${provider} {"api_key": "…"}`, `rungate provider-accounts set ${quoted(provider)}`)
export const listOrganizations = step("GET /v1/operator/organizations", "rungate admin orgs")
export const listUnknownOutcomes = step("GET /v1/operator/unknown-outcomes", "rungate admin unknown")
export const listDisputes = step("GET /v1/operator/disputes?decided=true", "rungate admin disputes --all")
export const auditOrganization = (org_id: string) =>
  step(`GET /v1/operator/organizations/${org_id}/audit`, `rungate admin show ${quoted(org_id)}`)
export const listRuns = step("GET /v1/runs", "rungate runs list")
export const runningRuns = step("GET /v1/runs?status=running", "rungate runs list --status running")
export const resetPassword = step(
  "POST /v1/auth/password-reset",
  `rungate api POST /v1/auth/password-reset -i '{"email":"you@example.com"}'`
)

/** For requests without a command of their own. */
export const viaApi = (method: "GET" | "POST", path: string) =>
  step(`${method} ${path}`, `rungate api ${method} ${quoted(path)}`)

export const getRun = (run_id: string) => step(`GET /v1/runs/${run_id}`, `rungate runs get ${quoted(run_id)}`)

export const history = (subject: string) =>
  step(`GET /v1/history?q=${encodeURIComponent(subject)}`, `rungate history ${quoted(subject)}`)

/** Without a domain, the command has an example. */
export const addSender = (domain?: string): CommandHint => ({
  http: domain === undefined ? "POST /v1/senders" : `POST /v1/senders ${JSON.stringify({ domain })}`,
  cli: `rungate senders add ${quoted(domain ?? "example.com")}`
})

export const inspectCapability = (capability: string) =>
  step(`POST /v1/inspect ${JSON.stringify({ capability })}`, `rungate inspect ${quoted(capability)}`)

/** The method is named where the path alone would be ambiguous. */
export const inspectEndpoint = (provider: string, endpoint: string, method?: string): CommandHint => ({
  http: `POST /v1/inspect ${JSON.stringify({ provider, endpoint, method })}`,
  cli: `rungate inspect ${quoted(provider)} ${quoted(endpoint)}${method === undefined ? "" : ` --method ${method}`}`
})

/** What somebody runs first. Costs about a cent. */
export const firstRun = 'rungate run email.find full_name="Ada Lovelace" company_domain=example.com'

/** With the request's body as the contract's examples write it. */
export const runCapability = (capability: string, input: unknown): CommandHint => {
  const json = JSON.stringify(input)
  return {
    http: `POST /v1/run {"capability": "${capability}", "input": ${json}}`,
    cli: `rungate run ${quoted(capability)} -i ${quoted(json)}`
  }
}
