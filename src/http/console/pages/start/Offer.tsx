/** What can be run here, and from which price, for people who are signed out. The catalog is public. */
import { useCapabilities } from "../../data/lists.ts"
import { Skeleton, Untried } from "../../parts/Page.tsx"
import { counted } from "../../../client/Words.ts"
import { Money } from "../../parts/Values.tsx"

const Offer = () => {
  const { data: all, error } = useCapabilities()
  const data = all?.filter(({ status }) => status === "live")
  // The page says everything else without this list.
  if (error !== null) return null
  if (data === undefined) return <Skeleton lines={4} />
  if (data.length === 0) return null
  const coming = (all ?? []).length - data.length
  const providers = new Set(data.flatMap((one) => one.providers)).size
  return (
    <section aria-labelledby="offer" className="mt-10">
      <h2 id="offer" className="font-semibold">
        {counted(data.length, "capability", "capabilities")} of {counted(providers, "provider")}
        {coming > 0 && <span className="font-normal text-muted">, and {coming} more are coming soon</span>}
      </h2>
      <p className="mt-1 text-muted">
        <Untried />
      </p>
      <ul className="mt-3 grid grid-cols-1 gap-x-8 sm:grid-cols-2 lg:grid-cols-3">
        {data.map(({ capability, title, starting_price }) => (
          <li key={capability} className="flex items-baseline justify-between gap-3 border-b border-line py-1.5">
            <span className="min-w-0" title={capability}>
              {title}
            </span>
            {starting_price !== null && (
              <span className="text-small whitespace-nowrap text-muted">
                from <Money amount={starting_price.amount} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

export default Offer
