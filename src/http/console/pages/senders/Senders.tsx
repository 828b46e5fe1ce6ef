/** Domains that the organization may send e-mail from: the DNS record that proves each of them, and whether it was found. */
import { ActionButton, ConfirmAction } from "../../actions/Actions.tsx"
import { type AnswerOf, api } from "../../data/api.ts"
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PagedList, usePaged } from "../../lists/PagedList.tsx"
import { NounFacts, wordOf } from "../../lists/nouns.tsx"
import { Allowed, May, Page, Panel } from "../../parts/Page.tsx"
import { State } from "../../parts/Values.tsx"

type Sender = AnswerOf<"senders", "list">["items"][number]

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

const SenderPanel = ({ sender }: { readonly sender: Sender }) => (
  <Panel
    title={sender.domain}
    className="break-words"
    actions={<State state={sender.status} word={wordOf("Sender", "status", sender.status)} />}
  >
    <NounFacts noun="Sender" one={sender} />
    {sender.sandbox === true && (
      <p className="mt-3 text-muted">In the sandbox verification succeeds without a DNS look-up.</p>
    )}
    <May operation="senders.add">
      <div className="mt-4 flex flex-wrap items-start gap-2">
        {sender.status === "pending" && (
          <ActionButton
            send={() => api.senders.verify({ params: { sender_id: sender.id } })}
            says={`${sender.domain} is verified.`}
            changes={["senders"]}
          >
            Verify the DNS record
          </ActionButton>
        )}
        <Remove sender={sender} />
      </div>
    </May>
  </Panel>
)

const form = payloadForm("senders", "add")
const words = {
  domain: {
    placeholder: "example.com",
    hint: "Once it is verified, runs can send from addresses of this domain and of its subdomains."
  }
}

const Senders = () => {
  const paged = usePaged(["senders"], (from) => api.senders.list({ query: from }))
  return (
    <Page lead="Domains from which your runs may send e-mail.">
      <Allowed operation="senders.add">
        <PayloadForm
          title="Add a domain"
          form={form}
          words={words}
          send={(payload) => api.senders.add({ payload })}
          says="The domain is added. Create its DNS record, then verify it."
          changes={["senders"]}
          submit="Add the domain"
        />
      </Allowed>
      <PagedList
        paged={paged}
        empty="Your domains will be here, each with its DNS record."
        hint="Without one, runs that send e-mail from your own addresses are refused."
      >
        {(items) => items.map((sender) => <SenderPanel key={sender.id} sender={sender} />)}
      </PagedList>
    </Page>
  )
}

export default Senders
