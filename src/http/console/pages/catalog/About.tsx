/** The panel of a capability's or an endpoint's parts, with the service's hints below. */
import { Panel } from "../../parts/Page.tsx"
import { type Tab, Tabs } from "../run/Tabs.tsx"

export const About = ({
  label,
  tabs,
  hints
}: {
  /** For screen readers, such as "Parts of the endpoint". */
  readonly label: string
  readonly tabs: ReadonlyArray<Tab>
  readonly hints: ReadonlyArray<string>
}) => (
  <Panel title="About it">
    <Tabs label={label} tabs={tabs} />
    {hints.length > 0 && (
      <ul className="mt-4 space-y-1 text-small text-muted">
        {hints.map((hint) => (
          <li key={hint} className="break-words">
            {hint}
          </li>
        ))}
      </ul>
    )}
  </Panel>
)
