/** A session of a person, as sign-up, sign-in and accepting an invitation answer it. */
import { Schema } from "effect"
import { roles } from "../../../schema/accounts/Role.ts"

export const Session = Schema.Struct({
  expires_at: Schema.String,
  organization: Schema.Struct({ id: Schema.String, name: Schema.String }),
  user: Schema.Struct({ id: Schema.String, email: Schema.String }),
  role: Schema.Literals(roles).annotate({ description: "The user's role in the organization." }),
  verification: Schema.optionalKey(Schema.Literal("pending")).annotate({
    description:
      "Present until the e-mail address is verified with the link that was mailed to it. Until then the session can't create keys, run or pay."
  })
}).annotate({ identifier: "Session" })

/** The session, and where else its user may sign in. */
export const OwnSession = Schema.Struct({
  ...Session.fields,
  organizations: Schema.Array(
    Schema.Struct({ id: Schema.String, name: Schema.String, role: Schema.Literals(roles) })
  ).annotate({ description: "All organizations of the user, oldest membership first. Sign-in takes their ids." })
}).annotate({ identifier: "OwnSession" })

export const NewSession = Schema.Struct({ session_token: Schema.String, ...Session.fields }).annotate({
  identifier: "NewSession"
})
