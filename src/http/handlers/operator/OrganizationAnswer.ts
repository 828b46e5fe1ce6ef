/** What an operator sees of an organization, in the console and with `rungate admin show --json`. */
import { Schema } from "effect"
import type { KeyRow } from "../../../layers/accounts/Accounts.ts"
import type { MemberRow } from "../../../layers/members/Members.ts"
import type { OrganizationRow } from "../../../layers/accounts/organizations/OrganizationList.ts"
import type { OrganizationState } from "../../../layers/operator/OrganizationState.ts"
import {
  OperatorKey,
  OperatorOrganization,
  OperatorOrganizationDetail,
  OperatorSpendGuard
} from "../../../schema/nouns/operator/Organization.ts"

const organizationJson = Schema.encodeSync(OperatorOrganization)
const detailJson = Schema.encodeSync(OperatorOrganizationDetail)
const operatorKeyJson = Schema.encodeSync(OperatorKey)
export const guardView = Schema.encodeSync(OperatorSpendGuard)

const listed = (row: OrganizationRow) => ({
  ...row,
  available: row.balance - row.reserved,
  suspension: row.suspended_at === null ? null : { since: row.suspended_at, violations: row.violations }
})
export const organizationView = (row: OrganizationRow) => organizationJson(listed(row))

const verificationOf = ({ pending, email_verified_at }: MemberRow) =>
  pending ? "pending" : email_verified_at === null ? "not_asked" : "verified"

export const keyView = (org_id: string, key: KeyRow) => operatorKeyJson({ ...key, org_id, id: key.key_id })

export const organizationStateView = ({ wallet, auto, losses, ...state }: OrganizationState) =>
  detailJson({
    ...listed(state.organization),
    guard: wallet,
    auto_topup: auto,
    payments: state.payments,
    people: state.people.map((one) => ({ ...one, id: one.user_id, verification: verificationOf(one) })),
    keys: state.keys.map((key) => ({ ...key, id: key.key_id })),
    entries: state.entries.map((entry) => ({ ...entry, id: entry.txn_id })),
    open_runs: state.runs.map((run) => ({ ...run, status: run.state })),
    losses: {
      runs: losses.reduce((sum, one) => sum + one.runs, 0n),
      loss: losses.reduce((sum, one) => sum + one.loss, 0n)
    },
    unknown_outcomes: state.unknown
  })
