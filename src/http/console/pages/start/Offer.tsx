/** What can be run here, and from which price, for people who are signed out. The catalog is public. */
import { useCapabilities } from "../../data/capabilities.ts"
import { Skeleton } from "../../parts/Page.tsx"
import { Money } from "../../parts/Values.tsx"

const Offer = () => {
  const { data: all, error } = useCapabilities()
  const data = all?.filter(({ status }) => status === "live")
  // The page says everything else without this list.
  if (error !== null) return null
  if (data === undefined) return <Skeleton lines={4} />
  if (data.length === 0) return null
  const providers = new Set(data.flatMap((one) => one.providers)).size
  return (
    <section aria-labelledby="offer" className="mt-10">
      <h2 id="offer" className="font-semibold">
        {data.length} capabilities of {providers} providers
      </h2>
      <ul className="mt-3 grid grid-cols-1 gap-x-8 gap-y-1.5 sm:grid-cols-2">
        {data.map(({ capability, title, starting_price }) => (
          <li key={capability} className="flex items-baseline justify-between gap-3 border-b border-line py-1">
            <span className="min-w-0 truncate" title={capability}>
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
