/** The spend guard: what a run and a day may cost, the balance below which the organization is told, and the guard of its contacts. */
import { type AnswerOf, api, queries } from "../../data/api.ts"
import { useDenied } from "../../data/session.ts"
import type { Wording } from "../../forms/Inputs.tsx"
import { Meter } from "../../lists/Facts.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { useGuard, useWallet } from "../../frame/Balance.tsx"
import { Loaded, Page, Panel, TextLink } from "../../parts/Page.tsx"
import { Money, Time } from "../../parts/Values.tsx"

type Guarded = AnswerOf<"wallet", "guard">

const form = payloadForm("wallet", "setGuard")

/** An empty field means no limit. */
const wordsOf = (time_zone: string, available: string | undefined): Readonly<Record<string, Wording>> => ({
  daily_limit: {
    label: "Most that all runs may be charged in a day, in USD",
    hint: "Runs that do not fit are blocked until the next day."
  },
  per_run_limit: {
    label: "Most that one run may hold, in USD",
    hint: "A run with a higher quote is blocked before it starts."
  },
  low_balance: {
    label: "Balance below which you are told, in USD",
    hint: `An e-mail and the event wallet.low. Nothing is blocked.${available === undefined ? "" : ` Available now: $${available}.`}`
  },
  contact_guard_days: {
    label: "Days within which nobody is contacted twice",
    hint: "Contact guard: counts e-mails, messages and invitations of all keys together, for each recipient. 365 at most."
  },
  time_zone: {
    label: "Time zone whose days are counted",
    hint: "For the daily limit, budgets and usage. The day, week and month of a change keep their end. It can change once a month.",
    options: [...new Set([time_zone, "UTC", ...Intl.supportedValuesOf("timeZone")])]
  }
})

const Today = ({ guard }: { readonly guard: Guarded }) => (
  <Panel title={`Today (${guard.time_zone})`}>
    <p>
      <Money amount={guard.spent_today} className="text-title font-semibold" />{" "}
      {guard.daily_limit === null ? (
        <span className="text-muted">spent. No daily limit is set.</span>
      ) : (
        <span className="text-muted">
          spent of <Money amount={guard.daily_limit} /> · resets <Time at={guard.resets_at} />
        </span>
      )}
    </p>
    {guard.daily_limit !== null && (
      <div className="mt-3 max-w-md">
        <Meter spent={guard.spent_today} limit={guard.daily_limit} label="Part of the daily limit that is spent" />
      </div>
    )}
    <p className="mt-3">
      <TextLink to="/activity?status=blocked">Runs that a limit blocked</TextLink>
    </p>
  </Panel>
)

const repeats = (failures: number) =>
  failures === 0
    ? "The operator has turned the repeat guard off: an API key may repeat an input that fails."
    : `Repeat guard: an API key that runs one input ${failures} times within ten minutes without success is blocked.`

const Limits = ({ guard }: { readonly guard: Guarded }) => (
  <PayloadForm
    title="Limits"
    form={form}
    words={wordsOf(guard.time_zone, useWallet().data?.available)}
    before={guard}
    send={(payload) => api.wallet.setGuard({ payload })}
    says="The spend guard is saved."
    after={(changed) => queries.setQueryData(["guard"], changed)}
    submit="Save the limits"
    denied={useDenied("wallet.setGuard")}
    saved="Saved. The next run obeys these limits."
    className="space-y-4"
  >
    <p className="text-muted">{repeats(guard.repeat_guard)}</p>
    <p className="text-muted">A limit whose field is empty is none. Limits count for every key and every person.</p>
  </PayloadForm>
)

const Guard = () => (
  <Page
    lead={
      <>
        Limits for the whole organization. <TextLink to="/settings/keys">Keys</TextLink> have budgets of their own.
      </>
    }
  >
    <Loaded query={useGuard()}>
      {(guard) => (
        <>
          <Today guard={guard} />
          <Limits guard={guard} />
        </>
      )}
    </Loaded>
  </Page>
)

export default Guard
