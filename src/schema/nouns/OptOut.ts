/** An entry of an opt-out list: somebody whom runs must not contact. It has a digest in the place of the value. */
import { Schema } from "effect"
import { withColumns } from "../Columns.ts"
import { optOutKinds, optOutSources } from "../guards/OptOut.ts"
import { component, idOf, nullableText, text, time, withExample } from "./Noun.ts"

const digest = text("the SHA-256 of the normalized value, in hexadecimal")

export const OptOut = component("OptOut", {
  id: idOf("opt"),
  kind: Schema.Literals(optOutKinds),
  hint: nullableText.annotate({ description: "the value with its middle left out; null if only the digest is known" }),
  digest,
  source: Schema.Literals(optOutSources),
  reason: nullableText,
  run_id: nullableText.annotate({ description: "of a one-click opt-out: the run that sent the message" }),
  created_by: nullableText.annotate({ description: "the person, API key or operator; null for the recipient" }),
  created_at: time
}).pipe(
  withColumns({
    list: ["id", "kind", "hint", "source", "reason", "created_at"],
    wide: ["reason", "created_at"],
    titles: { created_at: "Since" },
    none: { hint: "(digest only)" },
    words: { source: { one_click: "one click" } }
  }),
  withExample({
    id: "opt_01m81nzk5dej20zws915h61fdz",
    kind: "email",
    hint: "j•••@acme.example",
    digest: "bd17f4e91f4d9a2fd9d4b1e6b6f1bbd3a0a3b1c7a7c3d0f5a4c1c2b9d8e7f605",
    source: "one_click",
    reason: null,
    run_id: "run_01m81nzk5dej20zws915h61fdz",
    created_by: null,
    created_at: "2026-11-22T09:30:00.000Z"
  })
)

const whole = (description: string) => Schema.Int.annotate({ description })

export const OptOutsAdded = component("OptOutsAdded", {
  added: whole("entries that are new"),
  already: whole("values that the list had"),
  refused: whole("rows of an import that have no value"),
  refusals: Schema.Array(Schema.String).annotate({ description: "the first of them, each with its row" })
}).pipe(withExample({ added: 2, already: 1, refused: 0, refusals: [] }))

export const OptOutCheck = component("OptOutCheck", {
  value: text("as it was sent"),
  kind: Schema.NullOr(Schema.Literals(optOutKinds)).annotate({ description: "null for a text that is no value" }),
  digest: Schema.NullOr(digest),
  opted_out: Schema.Boolean,
  opt_out_id: nullableText.annotate({ description: "the entry, which may be that of the address's domain" }),
  since: Schema.NullOr(time)
}).pipe(withColumns({ list: ["value", "opted_out", "opt_out_id"], titles: { opt_out_id: "Entry" } }))
