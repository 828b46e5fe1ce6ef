/** What a configuration file changes, what its rules would have done with past runs, and what applying it created. */
import { Schema } from "effect"
import { withColumns } from "../Columns.ts"
import { component, text, withExample } from "../nouns/Noun.ts"
import { Replay } from "../nouns/Simulation.ts"

const section = Schema.Literals(["keys", "spend_guard", "webhooks", "label_budgets", "approval_rules"])
const name = text("the name of a key or rule, the URL of a webhook endpoint, label=value of a label budget")

const value = Schema.NullOr(Schema.String)
const Field = component("ConfigurationField", { field: Schema.String, before: value, after: value })
export const ConfigurationChange = component("ConfigurationChange", {
  action: Schema.Literals(["create", "change", "remove"]),
  section,
  name,
  fields: Schema.Array(Field).annotate({ description: "the values as people read them; null: no such rule" })
})
export type ConfigurationChange = typeof ConfigurationChange.Type

const digest = text("of the state that was compared")
const changes = Schema.Array(ConfigurationChange)
const change = {
  action: "change",
  section: "keys",
  name: "agent",
  fields: [{ field: "budget", before: "limit $5.00, period day", after: "limit $2.00, period day" }]
} as const
const sha = "sha256:5d41402abc4b2a76b9719d911017c592"

export const ConfigurationPreview = component("ConfigurationPreview", {
  ...{ digest, changes },
  replay: Schema.NullOr(Replay)
}).pipe(
  withExample({
    digest: sha,
    changes: [change],
    replay: {
      ...{ from: "2026-10-23T10:00:00.000Z", runs: 4210, blocked_runs: 14, waiting_runs: 0, cut: false },
      rules: [{ rule: "keys.agent.budget", blocked_runs: 14, waiting_runs: 0 }],
      not_replayed: []
    }
  })
)

export const NewSecret = component("NewSecret", {
  section,
  name,
  id: Schema.String,
  secret: text("the API key, or the secret that signs webhooks; it is shown only once")
}).pipe(withColumns({ list: ["section", "name", "id", "secret"] }))

export const AppliedConfiguration = component("AppliedConfiguration", {
  ...{ digest, changes },
  created: Schema.Array(NewSecret)
}).pipe(withExample({ digest: sha, changes: [change], created: [] }))
