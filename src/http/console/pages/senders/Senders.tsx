/** Domains that the organization may send e-mail from: the DNS record that proves each of them, and whether it was found. */
import { ActionForm, useAction } from "../../actions/Actions.tsx"
import { api } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { Allowed, Empty, Page, Panel } from "../../parts/Page.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadFields, payloadIn } from "../../forms/PayloadFields.tsx"
import { PagedList, usePaged } from "../../lists/PagedList.tsx"
import { SenderPanel } from "./SenderPanel.tsx"

const form = payloadForm("senders", "add")
const words = {
  domain: {
    placeholder: "example.com",
    hint: "Once it is verified, runs can send from addresses of this domain and of its subdomains."
  }
}

const Add = () => {
  const add = useAction((sent: FormData) => api.senders.add({ payload: payloadIn(sent) }), {
    says: "The domain is added. Create its DNS record, then verify it.",
    changes: ["senders"]
  })
  return (
    <Panel title="Add a domain">
      <ActionForm action={add} submit="Add the domain" className="space-y-3">
        <PayloadFields form={form} words={words} />
      </ActionForm>
    </Panel>
  )
}

const Senders = () => {
  const may = useMay("senders.add")
  const paged = usePaged(["senders"], (from) => api.senders.list({ query: from }))
  return (
    <Page title="Senders" lead="Domains from which your runs may send e-mail.">
      <Allowed operation="senders.add">
        <Add />
      </Allowed>
      <PagedList
        paged={paged}
        empty={
          <Empty title="Your domains will be here, each with its DNS record.">
            Without one, runs that send e-mail from your own addresses are refused.
          </Empty>
        }
      >
        {(items) => items.map((sender) => <SenderPanel key={sender.id} sender={sender} may={may} />)}
      </PagedList>
    </Page>
  )
}

export default Senders
