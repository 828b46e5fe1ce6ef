/** One domain: its DNS record, and whether the service found it. */
import { type AnswerOf, api } from "../../data/api.ts"
import { ActionButton, ConfirmAction, useAction } from "../../actions/Actions.tsx"
import { NounFacts, wordOf } from "../../lists/nouns.tsx"
import { Panel } from "../../parts/Page.tsx"
import { State } from "../../parts/Values.tsx"

export type Sender = AnswerOf<"senders", "list">["items"][number]

const Remove = ({ sender: { id, domain } }: { readonly sender: Sender }) => (
  <ConfirmAction
    send={() => api.senders.remove({ params: { sender_id: id } })}
    says={`${domain} is removed.`}
    changes={["senders"]}
    word="Remove the domain"
    title={`Remove ${domain}?`}
    cancel="Keep it"
  >
    <p>Runs that send from its addresses are refused at once. Adding it again needs a new DNS record.</p>
  </ConfirmAction>
)

const Verify = ({ sender }: { readonly sender: Sender }) => {
  const verify = useAction(() => api.senders.verify({ params: { sender_id: sender.id } }), {
    says: `${sender.domain} is verified.`,
    changes: ["senders"]
  })
  return <ActionButton action={verify}>Verify the DNS record</ActionButton>
}

export const SenderPanel = ({ sender, may }: { readonly sender: Sender; readonly may: boolean }) => (
  <Panel
    title={sender.domain}
    className="break-words"
    actions={<State state={sender.status} word={wordOf("Sender", "status", sender.status)} />}
  >
    <NounFacts noun="Sender" one={sender} />
    {sender.sandbox === true && (
      <p className="mt-3 text-muted">In the sandbox verification succeeds without a DNS look-up.</p>
    )}
    {may && (
      <div className="mt-4 flex flex-wrap items-start gap-2">
        {sender.status === "pending" && <Verify sender={sender} />}
        <Remove sender={sender} />
      </div>
    )}
  </Panel>
)
