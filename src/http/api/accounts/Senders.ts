/** The contract of senders: the domains that an organization proved with a DNS record, and may send e-mail from. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { byAdmins, pages, reads } from "../shapes/Common.ts"
import { Wire } from "../../../schema/Errors.ts"
import { Sender } from "../../../schema/nouns/Sender.ts"
import { component, withExample, removed } from "../../../schema/nouns/Noun.ts"

export class SendersApi extends HttpApiGroup.make("senders").add(
  reads("List senders", "Newest first.", "senders list").get("list", "/senders", pages(Sender)),
  byAdmins(
    "Add a sender",
    "Returns the DNS record to create. Create it, then verify the sender. Adding a domain again returns the same sender.",
    "senders add"
  ).post("add", "/senders", {
    payload: component("SenderRequest", {
      domain: Schema.NonEmptyString.check(Schema.isMaxLength(253)).annotate({ description: "Such as example.com" })
    }).pipe(withExample({ domain: "acme.example" })),
    success: Sender
  }),
  byAdmins(
    "Verify a sender",
    "Looks up the DNS record. If it is missing, the response is invalid_request and lists the records that were found.",
    "senders verify"
  ).post("verify", "/senders/:sender_id/verify", { success: Sender, error: [Wire.service_unavailable] }),
  byAdmins(
    "Remove a sender",
    "From then on its addresses are refused. Adding the domain again creates a new record.",
    "senders remove"
  ).delete("remove", "/senders/:sender_id", { success: removed("snd", "RemovedSender") })
) {}
