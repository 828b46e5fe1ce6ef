/** An organization as the operator of the service sees it: wallet, limits, people, keys, payments, ledger and open runs. */
import { Schema } from "effect"
import { withColumns } from "../../Columns.ts"
import { roles } from "../../accounts/Role.ts"
import { creditTypes } from "../../wallet/Wallet.ts"
import { ApiKey } from "../ApiKey.ts"
import {
  component,
  amount,
  capability,
  count,
  email,
  endpoint,
  idOf,
  org_id,
  organization,
  run_id,
  time
} from "../Noun.ts"
import { AutoTopup, SpendGuard, Transaction } from "../Wallet.ts"
import { Payment } from "./Payment.ts"

const fields = {
  org_id,
  name: organization,
  created_at: time,
  balance: amount,
  reserved: amount,
  available: amount,
  runs_today: count,
  charged_today: amount,
  suspension: Schema.NullOr(
    Schema.Struct({
      since: time,
      violations: Schema.Array(Schema.String).annotate({
        description: "Equation and subject of each violation that the check found, 20 at most."
      })
    })
  ).annotate({
    description:
      "A check found that the wallet's books do not add up, so its new runs are blocked. Null while it takes runs."
  })
}
export const OperatorOrganization = component("OperatorOrganization", fields).pipe(
  withColumns({
    list: ["org_id", "name", "balance", "available", "reserved", "runs_today", "charged_today", "created_at"],
    terminal: ["org_id", "balance"],
    wide: ["created_at", "charged_today", "runs_today", "reserved"],
    titles: { org_id: "Id", name: "Organization", reserved: "Held" }
  })
)

const { per_run_limit, daily_limit, spent_today, resets_at } = SpendGuard.fields
const guard = Schema.Struct({ per_run_limit, daily_limit, spent_today, resets_at })
export const OperatorSpendGuard = guard.annotate({ identifier: "OperatorSpendGuard" })

const { id, name, environment, display, created_at, last_used_at } = ApiKey.fields
const key = { id, name, environment, display, created_at, last_used_at, revoked_at: Schema.NullOr(time) }
export const OperatorKey = component("OperatorKey", { org_id, ...key })
export const KeyOfOrganization = Schema.Struct(key).pipe(
  withColumns({
    list: ["id", "name", "environment", "display", "last_used_at", "revoked_at"],
    terminal: ["id", "environment"],
    titles: { display: "Key", revoked_at: "State" },
    none: { last_used_at: "never" },
    kinds: { display: "code" }
  })
)

export const Person = Schema.Struct({
  id: idOf("usr"),
  email,
  role: Schema.Literals(roles),
  created_at: time,
  /** `not_asked`: verification was off when the user signed up. */
  verification: Schema.Literals(["pending", "not_asked", "verified"]),
  email_verified_at: Schema.NullOr(time)
}).pipe(
  withColumns({
    list: ["id", "email", "verification", "role", "created_at"],
    terminal: ["id"],
    titles: { email: "E-mail address", verification: "Address", created_at: "Joined" },
    kinds: { role: "text" },
    words: { verification: { pending: "not verified", not_asked: "verification was off" } }
  })
)
export const OpenRun = Schema.Struct({
  run_id,
  capability: Schema.NullOr(capability),
  endpoint: Schema.NullOr(endpoint),
  status: Schema.String,
  hold: amount,
  /** Queued or running since. */
  since: time
}).pipe(
  withColumns({
    list: ["run_id", "capability", "status", "since", "hold"],
    titles: { capability: "Of", hold: "Held" },
    instead: { capability: "endpoint" },
    kinds: { status: "state" }
  })
)

export const OperatorOrganizationDetail = component("OperatorOrganizationDetail", {
  ...fields,
  guard,
  auto_topup: Schema.NullOr(AutoTopup),
  payments: Schema.Array(Payment).annotate({ description: "The newest ten." }),
  people: Schema.Array(Person).annotate({ description: "The oldest twenty." }),
  keys: Schema.Array(KeyOfOrganization).annotate({ description: "The newest hundred." }),
  entries: Schema.Array(Transaction).annotate({ description: "The newest twenty entries of the ledger." }),
  open_runs: Schema.Array(OpenRun).annotate({ description: "The oldest fifty." }),
  losses: Schema.Struct({ runs: count, loss: amount }),
  unknown_outcomes: Schema.Number.annotate({ description: "Calls whose outcome nobody has found out yet." })
})

export const OperatorCredit = component("OperatorCredit", {
  org_id,
  type: Schema.Literals(creditTypes),
  amount,
  reference: Schema.String,
  transaction_id: idOf("txn"),
  already: Schema.Boolean.annotate({ description: "True if it was booked before this request." }),
  balance: amount,
  available: amount
})
