/** Domains that the organization may send e-mail from: the DNS record that proves each of them, and whether it was found. */
import { useMutation } from "@tanstack/react-query"
import { onForm, textIn } from "../../account/forms.ts"
import { api, queries } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { PagedList } from "../../lists/PagedList.tsx"
import { usePaged } from "../../lists/usePaged.ts"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Field, FormProblem, problemOf } from "../../parts/Field.tsx"
import { PageHead, Panel } from "../../parts/Page.tsx"
import { Empty } from "../../parts/States.tsx"
import { SenderPanel } from "./SenderPanel.tsx"

const sendersChanged = () => queries.invalidateQueries({ queryKey: ["senders"] })

const Add = () => {
  const add = useMutation({
    mutationFn: (form: FormData) => api.senders.add({ payload: { domain: textIn(form, "domain").trim() } }),
    onSuccess: async () => {
      announce("The domain is added. Create its DNS record, then verify it.")
      await sendersChanged()
    }
  })
  return (
    <Panel title="Add a domain">
      <form onSubmit={onForm((form) => add.mutate(form))} className="space-y-3">
        <Field
          label="Domain"
          name="domain"
          required
          maxLength={253}
          placeholder="example.com"
          autoCapitalize="none"
          spellCheck={false}
          hint="Once it is verified, runs can send from addresses of this domain and of its subdomains."
          problem={problemOf(add.error, "domain")}
          className="max-w-md"
        />
        <FormProblem error={add.error} />
        <Button type="submit" look="primary" busy={add.isPending}>
          Add the domain
        </Button>
      </form>
    </Panel>
  )
}

const Senders = () => {
  const may = useMay("admin")
  const paged = usePaged(["senders"], (from) => api.senders.list({ query: { limit: 50, ...from } }))
  return (
    <>
      <PageHead title="Senders">Domains from which your runs may send e-mail.</PageHead>
      <div className="grid grid-cols-1 gap-6">
        {may ? <Add /> : <p className="text-muted">An owner or an admin of the organization can add domains.</p>}
        <PagedList
          paged={paged}
          empty={
            <Empty title="Your domains will be here, each with its DNS record.">
              <p className="text-muted">Without one, runs that send e-mail from your own addresses are refused.</p>
            </Empty>
          }
        >
          {(items) =>
            items.map((sender) => <SenderPanel key={sender.id} sender={sender} may={may} onChanged={sendersChanged} />)
          }
        </PagedList>
      </div>
    </>
  )
}

export default Senders
