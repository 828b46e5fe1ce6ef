/** What an operator changes of a wallet after a question: credits and refunds, the limits of the spend guard, and a suspension that ends. */
import { useState } from "react"
import { api } from "../../../data/api.ts"
import { exactDollars } from "../../../data/money.ts"
import { PayloadForm } from "../../../forms/PayloadFields.tsx"
import { payloadForm } from "../../../forms/payload.ts" with { type: "macro" }
import { Bullets } from "../../../lists/Facts.tsx"
import { Panel } from "../../../parts/Page.tsx"
import { Money, Time } from "../../../parts/Values.tsx"
import { Ask, auditNote, type OfDetail, Verdict } from "../parts.tsx"

const creditForm = payloadForm("operatorOrganizations", "credit", ["reference"])
const creditWords = {
  type: { label: "Kind", options: { bonus: "Credit", refund: "Refund" } },
  amount: { label: "Amount in USD" },
  note: { label: "Reason", hint: "The organization sees it in its ledger." }
}

const newReference = () => `console-${crypto.randomUUID()}`

export const Credit = ({ detail }: OfDetail) => {
  const { org_id, name } = detail
  // The same one until something is booked, so that a lost answer books nothing twice.
  const [reference, setReference] = useState(newReference)
  return (
    <PayloadForm
      key={reference}
      title="Credit or refund"
      form={creditForm}
      words={creditWords}
      initial={{ type: "bonus" }}
      send={(payload) => api.operatorOrganizations.credit({ params: { org_id }, payload: { ...payload, reference } })}
      says={({ amount, type }) => `${type === "refund" ? "Refunded" : "Credited"} ${exactDollars(amount)}.`}
      after={() => setReference(newReference())}
      changes={["operator"]}
      submit="Check the amount…"
      look="plain"
      className="space-y-4"
      question={({ type, amount = "0", note }) => {
        const title = `${type === "refund" ? "Refund" : "Credit"} ${exactDollars(amount)}`
        return {
          title: `${title} to ${name}?`,
          confirm: title,
          look: "primary",
          children: (
            <>
              <p>
                The available balance of {name} rises from {exactDollars(detail.available)} by {exactDollars(amount)}.
                An entry of the ledger can't be removed.
              </p>
              <p>Reason: {note}</p>
              {auditNote}
            </>
          )
        }
      }}
    />
  )
}

const guardForm = payloadForm("operatorOrganizations", "setGuard")
const guardWords = { per_run_limit: { label: "Per run, in USD" }, daily_limit: { label: "Per day, in USD" } }
const limitWords = (limit: string | null) => (limit === null ? "no limit" : exactDollars(limit))

export const Guard = ({ detail }: OfDetail) => {
  const { org_id, name, guard } = detail
  return (
    <Panel title="Spend guard">
      <p className="mb-3 text-muted">
        <Money amount={guard.spent_today} /> spent today. An empty field is no limit.
      </p>
      <PayloadForm
        key={`${guard.per_run_limit} ${guard.daily_limit}`}
        form={guardForm}
        words={guardWords}
        before={guard}
        send={(payload) => api.operatorOrganizations.setGuard({ params: { org_id }, payload })}
        says="The limits are set."
        changes={["operator"]}
        submit="Change the limits…"
        look="plain"
        className="space-y-4"
        question={({ per_run_limit = guard.per_run_limit, daily_limit = guard.daily_limit }) => ({
          title: `Change the limits of ${name}?`,
          confirm: "Change the limits",
          look: "primary",
          children: (
            <>
              <p>
                Per run: from {limitWords(guard.per_run_limit)} to {limitWords(per_run_limit)}. Per day: from{" "}
                {limitWords(guard.daily_limit)} to {limitWords(daily_limit)}.
              </p>
              <p>Runs above a limit are blocked at once.</p>
              {auditNote}
            </>
          )
        })}
      />
    </Panel>
  )
}

const Resume = ({ detail }: OfDetail) => (
  <Ask
    send={() => api.operatorOrganizations.resume({ params: { org_id: detail.org_id } })}
    says="The wallet takes new runs again."
    word="Resume…"
    title={`Resume the wallet of ${detail.name}?`}
    confirm="Check the books and resume"
  >
    <p>The service checks the books of this wallet. If they add up, it takes new runs at once, and they are charged.</p>
    <p>If they do not add up, the wallet stays suspended, and you see what is wrong.</p>
  </Ask>
)

export const Suspension = ({ detail }: OfDetail) => {
  const { suspension } = detail
  if (suspension === null) return null
  return (
    <Panel title="Suspended" className="lg:col-span-2" actions={<Resume detail={detail} />}>
      <div className="space-y-2">
        <Verdict good={false}>
          A check found that the books of this wallet do not add up, and suspended it <Time at={suspension.since} />.
        </Verdict>
        <p>
          New runs end as blocked with the error wallet_suspended, and nothing is held. What had begun is settled.
          Restore the rows before you resume the wallet.
        </p>
        <Bullets aria-label="What the check found" items={suspension.violations} className="ml-6 text-small" />
      </div>
    </Panel>
  )
}
