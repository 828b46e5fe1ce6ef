/** The outcome warranty of a run: until when it can be disputed, how its dispute stands, and the form that disputes it. */
import { api } from "../../data/api.ts"
import { ConfirmAction, textIn } from "../../actions/Actions.tsx"
import { present } from "../../data/time.ts"
import { useMay } from "../../data/session.ts"
import { wordOf } from "../../lists/nouns.tsx"
import { Field } from "../../parts/Field.tsx"
import { Panel } from "../../parts/Page.tsx"
import { Money, Time } from "../../parts/Values.tsx"
import { type Details, type OfRun, useDetails } from "./useRun.ts"

type Dispute = NonNullable<NonNullable<Details["warranty"]>["dispute"]>

const stateWord = ({ state }: Pick<Dispute, "state">) => wordOf("Dispute", "state", state)

const State = ({ dispute }: { readonly dispute: Dispute }) => (
  <div className="space-y-1">
    <p>
      <span className="font-semibold">{stateWord(dispute)}</span>
      {dispute.refund !== null && (
        <>
          : <Money amount={dispute.refund} /> are back in the wallet
        </>
      )}
      . Disputed <Time at={dispute.created_at} />.
    </p>
    <p className="break-words text-muted">{dispute.note}</p>
    {dispute.ask_after !== null && Date.parse(dispute.ask_after) > present() && (
      <p className="text-muted">
        The provider can be asked again <Time at={dispute.ask_after} />.
      </p>
    )}
    {dispute.evidence !== null && <p className="break-words text-muted">Evidence: {dispute.evidence}</p>}
  </div>
)

const DisputeAction = ({ run_id, isFirst }: { readonly run_id: string; readonly isFirst: boolean }) => (
  <ConfirmAction
    send={(form) =>
      api.disputes.dispute({
        params: { run_id },
        payload: { reason: "bounced", evidence: textIn(form, "evidence").trim() }
      })
    }
    says={(dispute) => `The run is disputed. ${stateWord(dispute)}.`}
    changes={["run", "wallet"]}
    word={isFirst ? "Dispute…" : "Dispute again…"}
    buttonLook="plain"
    title="Dispute the run?"
    confirm="Dispute the run"
    look="primary"
  >
    <p>
      The run called an address valid, and mail to it bounced. Give the id of your run that sent the message: the
      provider is asked, and if it confirms the bounce, the charge is refunded at once. The operator reads any other
      text and decides.
    </p>
    <Field
      label="The run that sent the message, or what happened"
      name="evidence"
      required
      maxLength={2000}
      autoComplete="off"
    />
  </ConfirmAction>
)

export const Warranty = ({ run }: OfRun) => {
  const may = useMay("disputes.dispute")
  const { until = null, dispute = null } = useDetails(run).data?.warranty ?? {}
  if (until === null && dispute === null) return null
  return (
    <Panel
      title="Outcome warranty"
      actions={until !== null && may && <DisputeAction run_id={run.run_id} isFirst={dispute === null} />}
    >
      {dispute !== null && <State dispute={dispute} />}
      {until !== null && (
        <p className={dispute === null ? "" : "mt-2 text-muted"}>
          If mail to the address bounces, the charge is refunded. Disputes close <Time at={until} />.
        </p>
      )}
    </Panel>
  )
}
