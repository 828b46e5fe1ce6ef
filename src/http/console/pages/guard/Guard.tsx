/** The spend guard: what a run and a day may cost, the balance below which the organization is told, and the guard of its contacts. */
import type { AnswerOf } from "../../../client/Browser.ts"
import { ActionForm } from "../../actions/Actions.tsx"
import { textIn, useAction } from "../../actions/useAction.ts"
import { api, queries } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { Meter } from "../../forms/Meter.tsx"
import { useGuard, useWallet } from "../../frame/Balance.tsx"
import { AmountField, Field } from "../../parts/Field.tsx"
import { TextLink } from "../../parts/Link.tsx"
import { Loaded, PageHead, Panel } from "../../parts/Page.tsx"
import { Money, Time } from "../../parts/Values.tsx"

type Guarded = AnswerOf<"wallet", "guard">

const limits = [
  [
    "daily_limit",
    "Most that all runs may be charged in a day (UTC), in USD",
    "Runs that do not fit are blocked until the next day."
  ],
  ["per_run_limit", "Most that one run may hold, in USD", "A run with a higher quote is blocked before it starts."],
  ["low_balance", "Balance below which you are told, in USD", "An e-mail and the event wallet.low. Nothing is blocked."]
] as const

const Today = ({ guard }: { readonly guard: Guarded }) => (
  <Panel title="Today (UTC)">
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

const amountOrNull = (form: FormData, name: string) => {
  const text = textIn(form, name).trim()
  return text === "" ? null : text
}

const daysOrNull = (form: FormData, name: string) => {
  const text = amountOrNull(form, name)
  return text === null ? null : Number(text)
}

const repeats = (failures: number) =>
  failures === 0
    ? "The operator has turned the repeat guard off: an API key may repeat an input that fails."
    : `Repeat guard: an API key that runs one input ${failures} times within ten minutes without success is blocked.`

const Limits = ({ guard }: { readonly guard: Guarded }) => {
  const may = useMay("wallet.setGuard")
  const wallet = useWallet().data
  const save = useAction(
    (form: FormData) =>
      api.wallet.setGuard({
        payload: {
          daily_limit: amountOrNull(form, "daily_limit"),
          per_run_limit: amountOrNull(form, "per_run_limit"),
          low_balance: amountOrNull(form, "low_balance"),
          contact_guard_days: daysOrNull(form, "contact_guard_days")
        }
      }),
    { says: "The spend guard is saved.", after: (changed) => queries.setQueryData(["guard"], changed) }
  )
  return (
    <Panel title="Limits">
      <ActionForm
        action={save}
        submit="Save the limits"
        denied={may ? null : "An owner or an admin of the organization can change the limits."}
        saved="Saved. The next run obeys these limits."
      >
        {limits.map(([name, label, hint]) => (
          <AmountField
            key={name}
            label={label}
            name={name}
            defaultValue={guard[name] ?? ""}
            disabled={!may}
            hint={
              name === "low_balance" && wallet !== undefined ? `${hint} Available now: $${wallet.available}.` : hint
            }
            className="max-w-md"
          />
        ))}
        <Field
          label="Days within which nobody is contacted twice"
          name="contact_guard_days"
          inputMode="numeric"
          pattern="\d{1,3}"
          defaultValue={guard.contact_guard_days ?? ""}
          disabled={!may}
          hint="Contact guard: counts e-mails, messages and invitations of all keys together, for each recipient. 365 at most."
          className="max-w-md"
        />
        <p className="text-muted">{repeats(guard.repeat_guard)}</p>
        <p className="text-muted">An empty field means no limit. Limits count for every key and every person.</p>
      </ActionForm>
    </Panel>
  )
}

const Guard = () => (
  <>
    <PageHead title="Spend guard">
      Limits for the whole organization. <TextLink to="/settings/keys">Keys</TextLink> have budgets of their own.
    </PageHead>
    <Loaded query={useGuard()}>
      {(guard) => (
        <div className="grid grid-cols-1 gap-6">
          <Today guard={guard} />
          <Limits guard={guard} />
        </div>
      )}
    </Loaded>
  </>
)

export default Guard
