/** The referral program: the code and link to pass on, what was earned, and who signed up with it. */
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { columnsOf, NounFacts } from "../../lists/nouns.tsx"
import { Empty, Loaded, Page, Panel, Skeleton, TextLink } from "../../parts/Page.tsx"
import { DataTable } from "../../parts/Table.tsx"
import { Money, State } from "../../parts/Values.tsx"

const Shown = ({ program }: { readonly program: AnswerOf<"referrals", "program"> }) => {
  const { referred, referred_by, credits, earnings } = program
  return (
    <div className="grid grid-cols-1 gap-6">
      <div className="grid grid-cols-1 gap-6 lg:grid-cols-2">
        <Panel title="Your code">
          <NounFacts noun="ReferralProgram" one={program} only={["code", "link"]} />
          <p className="mt-3 text-muted">{program.terms.description}</p>
        </Panel>
        <Panel title="Earnings">
          <NounFacts
            noun="ReferralProgram"
            one={program}
            only={["earnings.credited", "earnings.pending", "earnings.referred_count"]}
          />
          <p className="mt-3 text-muted">
            Earnings are credited to <TextLink to="/wallet">your wallet</TextLink> about once a minute, from one cent
            on.
          </p>
        </Panel>
      </div>
      {referred_by !== null && (
        <Panel title="Your own bonus">
          <p>
            You signed up with a code: <Money amount={referred_by.deposit_bonus} /> with a first deposit of at least{" "}
            <Money amount={referred_by.deposit_min} />.{" "}
            <State state={referred_by.bonus_state} word={referred_by.bonus_state} />
          </p>
        </Panel>
      )}
      {referred.items.length === 0 ? (
        <Empty title="Organizations that sign up with your code will be here.">
          Pass on the link. You see their name and what you earned, and nothing else.
        </Empty>
      ) : (
        <Panel title="Organizations">
          <DataTable
            label="Organizations that signed up with your code"
            rows={referred.items}
            columns={columnsOf("Referral")}
          />
          {referred.items.length < earnings.referred_count && (
            <p className="mt-3 text-muted">The newest {referred.items.length} are shown.</p>
          )}
        </Panel>
      )}
      {credits.length > 0 && (
        <Panel title="Latest credits">
          <DataTable label="Latest credits" rows={credits} columns={columnsOf("ReferralCredit")} />
        </Panel>
      )}
    </div>
  )
}

const Referrals = () => {
  const program = useRead(["referrals"], () => api.referrals.program({}), { staleTime: 60_000 })
  return (
    <Page>
      <Loaded query={program} skeleton={<Skeleton lines={8} height={24} />}>
        {(data) => <Shown program={data} />}
      </Loaded>
    </Page>
  )
}

export default Referrals
