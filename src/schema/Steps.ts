/** The next steps that messages and hints suggest: requests, and the commands that do the same. Each command works when it is pasted. */
import type { CommandHint } from "./Hints.ts"

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  /^[A-Za-z0-9_./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

export const discover: CommandHint = { http: "POST /v1/discover", cli: "rungate discover 'what you need'" }
export const signIn: CommandHint = { http: "POST /v1/auth/sign-in", cli: "rungate login" }
export const topUp: CommandHint = { http: "POST /v1/wallet/topups/checkout", cli: "rungate wallet topup 25.00" }
export const spendGuard: CommandHint = { http: "/v1/spend-guard", cli: "rungate spend-guard" }
export const createKey: CommandHint = { http: "POST /v1/api-keys", cli: "rungate keys create" }
export const raiseLabelBudget: CommandHint = {
  http: "PUT /v1/label-budgets",
  cli: "rungate label-budgets set <label> --value <value> --limit 10 --period day"
}
export const listLabelBudgets: CommandHint = { http: "GET /v1/label-budgets", cli: "rungate label-budgets list" }
export const listApprovalRules: CommandHint = { http: "GET /v1/approval-rules", cli: "rungate approval-rules list" }
export const raiseBudget: CommandHint = {
  http: "PATCH /v1/api-keys/{key_id}",
  cli: "rungate keys update <key_id> --budget 10/day"
}
export const revokeKey: CommandHint = { http: "DELETE /v1/api-keys/{key_id}", cli: "rungate keys revoke <key_id>" }
export const createAllowance: CommandHint = {
  http: "POST /v1/allowances",
  cli: "rungate allowances create researcher --amount 2.00 --expires 2h"
}
export const listAllowances: CommandHint = { http: "GET /v1/allowances", cli: "rungate allowances list" }
export const listSenders: CommandHint = { http: "GET /v1/senders", cli: "rungate senders list" }
export const listMembers: CommandHint = { http: "GET /v1/members", cli: "rungate members list" }
export const listInvitations: CommandHint = { http: "GET /v1/invitations", cli: "rungate invite list" }
export const listWebhooks: CommandHint = { http: "GET /v1/webhook-endpoints", cli: "rungate webhooks list" }
export const listProviderAccounts: CommandHint = {
  http: "GET /v1/provider-accounts",
  cli: "rungate provider-accounts list"
}
export const setProviderAccount = (provider: string): CommandHint => ({
  http: `PUT /v1/provider-accounts/${provider} {"api_key": "…"}`,
  cli: `rungate provider-accounts set ${quoted(provider)}`
})
export const listOrganizations: CommandHint = { http: "GET /v1/operator/organizations", cli: "rungate admin orgs" }
export const listUnknownOutcomes: CommandHint = {
  http: "GET /v1/operator/unknown-outcomes",
  cli: "rungate admin unknown"
}
export const listDisputes: CommandHint = {
  http: "GET /v1/operator/disputes?decided=true",
  cli: "rungate admin disputes --all"
}
export const auditOrganization = (org_id: string): CommandHint => ({
  http: `GET /v1/operator/organizations/${org_id}/audit`,
  cli: `rungate admin show ${quoted(org_id)}`
})
export const listRuns: CommandHint = { http: "GET /v1/runs", cli: "rungate runs list" }
export const runningRuns: CommandHint = {
  http: "GET /v1/runs?status=running",
  cli: "rungate runs list --status running"
}
export const resetPassword: CommandHint = {
  http: "POST /v1/auth/password-reset",
  cli: `rungate api POST /v1/auth/password-reset -i '{"email":"you@example.com"}'`
}

/** For requests without a command of their own. */
export const viaApi = (method: "GET" | "POST", path: string): CommandHint => ({
  http: `${method} ${path}`,
  cli: `rungate api ${method} ${quoted(path)}`
})

export const getRun = (run_id: string): CommandHint => ({
  http: `GET /v1/runs/${run_id}`,
  cli: `rungate runs get ${quoted(run_id)}`
})

export const history = (subject: string): CommandHint => ({
  http: `GET /v1/history?q=${encodeURIComponent(subject)}`,
  cli: `rungate history ${quoted(subject)}`
})

/** Without a domain, the command has an example. */
export const addSender = (domain?: string): CommandHint => ({
  http: domain === undefined ? "POST /v1/senders" : `POST /v1/senders ${JSON.stringify({ domain })}`,
  cli: `rungate senders add ${quoted(domain ?? "example.com")}`
})

export const inspectCapability = (capability: string): CommandHint => ({
  http: `POST /v1/inspect ${JSON.stringify({ capability })}`,
  cli: `rungate inspect ${quoted(capability)}`
})

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
