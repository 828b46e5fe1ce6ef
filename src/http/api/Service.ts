/** The contract of what a client should know about the service before it signs in. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { about } from "./shapes/Common.ts"
import { component } from "../../schema/nouns/Noun.ts"

export const ServiceInfo = component("Service", {
  environment: Schema.Literals(["test", "live"]).annotate({
    description: "test: providers and payments are simulated. It is also the environment of API keys."
  }),
  sign_up: Schema.Literals(["open", "invite", "closed"]),
  openid: Schema.NullOr(Schema.String).annotate({
    description:
      "The host of the OpenID provider, where people may sign in: a browser opens /auth/openid. Null without one."
  }),
  sends_mail: Schema.Boolean.annotate({
    description: "False if links, such as those of invitations, are passed on by hand."
  }),
  referral_terms: Schema.String.annotate({ description: "What a sign-up with a referral code gives, in words." })
})

export class ServiceApi extends HttpApiGroup.make("service").add(
  about("Read what this service is", "Public: the environment, who may sign up, and what a referral code gives.").get(
    "get",
    "/service",
    { success: ServiceInfo }
  )
) {}
