/** The runs of an organization, read-only, after a reason that its admins can read. */
import { useState } from "react"
import { type AnswerOf, api, ApiError, useRead } from "../../../data/api.ts"
import { ActionForm, textIn } from "../../../actions/Actions.tsx"
import { columnsOf } from "../../../lists/nouns.tsx"
import { PagedList, usePaged } from "../../../lists/PagedList.tsx"
import { Button, Loaded, Panel } from "../../../parts/Page.tsx"
import { Field } from "../../../parts/Field.tsx"
import { nameOf } from "../../../running/request.ts"
import { Json } from "../../run/Tabs.tsx"
import { SmallTable } from "../parts.tsx"

type Listed = AnswerOf<"operatorImpersonation", "runs">["items"][number]

const Reason = ({ org_id, name }: { readonly org_id: string; readonly name: string }) => (
  <ActionForm
    send={(form) =>
      api.operatorImpersonation.begin({ params: { org_id }, payload: { reason: textIn(form, "reason") } })
    }
    says="The runs are open for half an hour."
    changes={["operator"]}
    submit="Open the runs"
    look="plain"
    className="space-y-3"
  >
    <p>
      Runs hold data of {name}. They open for half an hour, read-only, and the admins of {name} read your reason in
      their audit log.
    </p>
    <Field label="Why you look" name="reason" required maxLength={500} className="max-w-md" />
  </ActionForm>
)

const OneRun = ({ org_id, run_id }: { readonly org_id: string; readonly run_id: string }) => {
  const run = useRead(["operator", "organization", org_id, "run", run_id], () =>
    api.operatorImpersonation.run({ params: { org_id, run_id } })
  )
  return (
    <section aria-label={`Run ${run_id}`} className="mt-4">
      <Loaded query={run}>{(details) => <Json value={details} label="the run as JSON" />}</Loaded>
    </section>
  )
}

const List = ({ org_id, runs }: { readonly org_id: string; readonly runs: ReadonlyArray<Listed> }) => {
  const [shown, setShown] = useState<string | null>(null)
  return (
    <>
      <SmallTable
        label="Runs, newest first"
        rows={runs}
        none="No run was made yet."
        columns={[
          ...columnsOf("ListedRun", {
            run_id: ({ run_id, ...run }) => (
              <Button look="quiet" aria-expanded={shown === run_id} onClick={() => setShown(run_id)} title={run_id}>
                {nameOf(run)}
              </Button>
            )
          }),
          { title: "Why", cell: ({ error }) => error?.message ?? "" }
        ]}
      />
      {shown !== null && <OneRun org_id={org_id} run_id={shown} />}
    </>
  )
}

export const Runs = ({ org_id, name }: { readonly org_id: string; readonly name: string }) => {
  const paged = usePaged(["operator", "organization", org_id, "runs"], (from) =>
    api.operatorImpersonation.runs({ params: { org_id }, query: from })
  )
  const isClosed = paged.error instanceof ApiError && paged.error.code === "forbidden"
  return (
    <Panel title="Runs">
      {isClosed ? (
        <Reason org_id={org_id} name={name} />
      ) : (
        <PagedList paged={paged} empty={<p className="text-muted">No run was made yet.</p>}>
          {(runs) => <List org_id={org_id} runs={runs} />}
        </PagedList>
      )}
    </Panel>
  )
}
