/** A domain from which an organization sends e-mail, and the DNS record that proves it. */
import { Schema } from "effect"
import { withColumns } from "../Columns.ts"
import { component, idOf, text, time, withExample } from "./Noun.ts"

export const Sender = component("Sender", {
  id: idOf("snd"),
  domain: text("Addresses at this domain and its subdomains may be used as from."),
  status: Schema.Literals(["pending", "verified"]),
  record: Schema.Struct({
    type: Schema.Literal("TXT"),
    name: text("Name of the DNS record."),
    value: text("Value of the DNS record. Every organization has its own.")
  }).annotate({ description: "The DNS record that proves the domain." }),
  verified_at: Schema.NullOr(time),
  created_at: time,
  sandbox: Schema.optionalKey(
    Schema.Literal(true).annotate({
      description: "Present in the sandbox, where verification succeeds without a DNS look-up."
    })
  )
}).pipe(
  withColumns({
    list: ["id", "domain", "status", "created_at"],
    facts: ["record.type", "record.name", "record.value", "verified_at"],
    titles: { created_at: "Added" },
    kinds: { "record.name": "id", "record.value": "id" },
    words: { status: { pending: "waits for its DNS record" } }
  }),
  withExample({
    id: "snd_01m81nzk80sbhryrprxj942f6g",
    domain: "acme.example",
    status: "pending",
    record: {
      type: "TXT",
      name: "_rungate-challenge.acme.example",
      value: "rungate-verification=59fff89f5a1d466a94d345d1ea32e31d"
    },
    verified_at: null,
    created_at: "2026-11-22T09:30:00.000Z",
    sandbox: true
  })
)
