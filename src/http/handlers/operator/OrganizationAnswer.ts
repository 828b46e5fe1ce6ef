/** What an operator sees of an organization, in the console and with `rungate admin show --json`. */
import type { KeyRow } from "../../../layers/accounts/Accounts.ts"
import type { WalletRow } from "../../../layers/ledger/Books.ts"
import type { LossTotal } from "../../../layers/ledger/Losses.ts"
import type { MemberRow } from "../../../layers/members/Members.ts"
import type { OrganizationRow } from "../../../layers/accounts/organizations/OrganizationList.ts"
import type { OrganizationState } from "../../../layers/operator/OrganizationState.ts"
import { usd } from "../../../schema/money/Money.ts"

export const organizationView = (row: OrganizationRow) => ({
  org_id: row.org_id,
  name: row.name,
  created_at: row.created_at.toISOString(),
  balance: usd(row.balance),
  reserved: usd(row.reserved),
  available: usd(row.balance - row.reserved),
  runs_today: Number(row.runs_today),
  charged_today: usd(row.charged_today),
  suspension: row.suspended_at === null ? null : { since: row.suspended_at.toISOString(), violations: row.violations }
})

const limitView = (limit: bigint | null): string | null => (limit === null ? null : usd(limit))

export const guardView = ({ per_run_limit, daily_limit, spent_today, resets_at }: WalletRow) => ({
  per_run_limit: limitView(per_run_limit),
  daily_limit: limitView(daily_limit),
  spent_today: usd(spent_today),
  resets_at: resets_at.toISOString()
})

/** `not_asked`: verification was off when the user signed up. */
const verificationOf = ({ pending, email_verified_at }: MemberRow): "pending" | "not_asked" | "verified" =>
  pending ? "pending" : email_verified_at === null ? "not_asked" : "verified"

const lossView = (losses: ReadonlyArray<LossTotal>) => ({
  runs: losses.reduce((sum, one) => sum + Number(one.runs), 0),
  loss: usd(losses.reduce((sum, one) => sum + one.loss, 0n))
})

const isoOf = (time: Date | null) => time?.toISOString() ?? null

export const keyView = (key: KeyRow) => ({
  id: key.key_id,
  name: key.name,
  environment: key.environment,
  display: key.display,
  created_at: key.created_at.toISOString(),
  last_used_at: isoOf(key.last_used_at),
  revoked_at: isoOf(key.revoked_at)
})

export const organizationStateView = (state: OrganizationState) => ({
  ...organizationView(state.organization),
  guard: guardView(state.wallet),
  auto_topup:
    state.auto === null
      ? null
      : {
          enabled: state.auto.enabled,
          threshold: usd(state.auto.threshold),
          amount: usd(state.auto.amount),
          last_error: state.auto.last_error
        },
  payments: state.payments.map(({ amount, clawed_back, created_at, ended_at, ...payment }) => ({
    ...payment,
    amount: usd(amount),
    clawed_back: usd(clawed_back),
    created_at: created_at.toISOString(),
    ended_at: isoOf(ended_at)
  })),
  people: state.people.map((person) => ({
    id: person.user_id,
    email: person.email,
    role: person.role,
    created_at: person.created_at.toISOString(),
    verification: verificationOf(person),
    email_verified_at: isoOf(person.email_verified_at)
  })),
  keys: state.keys.map(keyView),
  entries: state.entries.map((entry) => ({
    id: entry.txn_id,
    type: entry.type,
    amount: usd(entry.amount),
    balance_after: usd(entry.balance_after),
    reference: entry.reference,
    note: entry.note,
    created_at: entry.created_at.toISOString()
  })),
  open_runs: state.runs.map((run) => ({
    run_id: run.run_id,
    capability: run.capability,
    endpoint: run.endpoint,
    status: run.state,
    hold: usd(run.hold),
    since: run.since.toISOString()
  })),
  losses: lossView(state.losses),
  unknown_outcomes: state.unknown
})
