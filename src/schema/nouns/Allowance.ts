/** An allowance: an API key with an amount of the wallet's money. */
import { Schema } from "effect"
import { KeyScope } from "./ApiKey.ts"
import { withColumns } from "../Columns.ts"
import { component, amount, amountAs, text, time, withExample } from "./Noun.ts"

const columns = [
  ...([
    "id",
    "name",
    "status",
    "amount",
    "spent",
    "held",
    "available",
    "expires_at",
    "allow",
    "parent_id",
    "display"
  ] as const)
]

export const Allowance = component("Allowance", {
  id: text("The id of its key."),
  name: Schema.String,
  parent_id: Schema.NullOr(text("The key that gave it. Null if a person did.")),
  depth: Schema.Int.annotate({ description: "1, or one more than that of the allowance which gave it. 3 at most." }),
  status: Schema.Literals(["active", "ended"]),
  amount,
  spent: amountAs("What its runs were charged, and what allowances under it have spent."),
  held: amountAs("What the wallet holds for it now, with its open runs and the allowances under it."),
  available: amountAs("The part of held that is free for its next run."),
  expires_at: Schema.NullOr(time),
  allow: Schema.NullOr(KeyScope),
  display: Schema.String,
  created_at: time
}).pipe(
  withColumns({
    list: columns,
    terminal: ["id", "amount", "display"],
    wide: ["parent_id", "allow", "display", "held", "expires_at"],
    facts: [...columns, "depth"],
    titles: { status: "State", available: "Left", allow: "May run", parent_id: "Given by", display: "Key" },
    none: { expires_at: "never", parent_id: "a person" },
    kinds: { display: "code" }
  }),
  withExample({
    id: "key_01m81nzk5dej20zws915h61fdz",
    name: "researcher 3",
    parent_id: "key_01m81nzk5d7nz4c3x8q2v9k6ta",
    depth: 1,
    status: "active",
    amount: "2.00",
    spent: "0.42",
    held: "1.58",
    available: "1.52",
    expires_at: "2026-12-01T00:00:00.000Z",
    allow: { capabilities: ["email.find", "email.verify"], max_cost: "0.10" },
    display: "rg_test_Q8bC…X4vF",
    created_at: "2026-11-23T09:30:00.000Z"
  })
)
