/** Why a wallet is suspended, and the button that lets it take runs again after its books were checked. */
import { type AnswerOf, api } from "../../../data/api.ts"
import { Bullets } from "../../../lists/Facts.tsx"
import { Panel } from "../../../parts/Page.tsx"
import { Time } from "../../../parts/Values.tsx"
import { Ask, Verdict } from "../parts.tsx"

type Detail = AnswerOf<"operatorOrganizations", "get">

const Resume = ({ detail }: { readonly detail: Detail }) => (
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

export const Suspension = ({ detail }: { readonly detail: Detail }) => {
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
