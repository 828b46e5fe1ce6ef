/** Links to the limits that stop a run, and to what else helps. */
import { TextLink } from "../parts/Page.tsx"

export interface Control {
  readonly control: string
  /** The path of the API at which it is changed. */
  readonly manage: string
}

const words: Readonly<Record<string, string>> = {
  daily_spend_guard: "the daily limit",
  per_run_limit: "the limit per run",
  key_budget: "the key's budget",
  batch_max_total: "the batch's limit",
  label_budget: "the label's budget",
  contact_guard: "the contact guard",
  opt_out: "the opt-outs"
}

const linkOf = (control: string): string => `Change ${words[control] ?? control}`

/** The console's page for a path of the API. */
export const pageOf = (manage: string): string => {
  if (manage.startsWith("/v1/api-keys")) return manage.replace("/v1/api-keys", "/settings/keys")
  if (manage.startsWith("/v1/batches")) return manage.replace("/v1", "")
  if (manage.startsWith("/v1/opt-outs")) return "/settings/opt-outs"
  return "/settings/guard"
}

export const ControlLinks = ({
  controls,
  code
}: {
  readonly controls: ReadonlyArray<Control>
  /** The error code of the run or quote. */
  readonly code: string | undefined
}) => {
  const links = [
    ...controls.map(({ control, manage }) => [pageOf(manage), linkOf(control)] as const),
    ...(code === "insufficient_balance" ? [["/wallet", "Top up the wallet"] as const] : [])
  ]
  if (links.length === 0) return null
  return (
    <ul className="mt-2 space-y-1">
      {links.map(([to, word]) => (
        <li key={word}>
          <TextLink to={to}>{word}</TextLink>
        </li>
      ))}
    </ul>
  )
}
