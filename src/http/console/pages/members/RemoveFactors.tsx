/** Removes the second factor and the passkeys of a person who has lost them: an owner does it for a member, the operator for everybody. */
import type { AnswerOf } from "../../data/api.ts"
import { removedSentence } from "../../../client/Words.ts"
import { ConfirmAction } from "../../actions/Actions.tsx"

export const RemoveFactors = ({
  email,
  send
}: {
  readonly email: string
  readonly send: () => Promise<AnswerOf<"members", "removeFactors">>
}) => (
  <ConfirmAction
    send={send}
    says={removedSentence}
    word="Lost phone"
    label={`Remove the second factor of ${email}`}
    buttonLook="plain"
    confirm="Remove it"
  >
    <p>
      For somebody who has lost phone and recovery codes. The second factor and all passkeys go, and all of their
      sessions end. The password alone signs in, and the person gets a mail. Make sure that it is the person who asks.
    </p>
  </ConfirmAction>
)
