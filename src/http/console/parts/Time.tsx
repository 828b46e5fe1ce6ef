/** A time relative to now. Pointing at it shows the exact one, in the person's zone and in UTC. */
import { useNow } from "../data/clock.ts"
import { exactly, inShort, inWords } from "../data/time.ts"

export const Time = ({ at, short = false }: { readonly at: string; readonly short?: boolean }) => {
  const now = useNow()
  const millis = Date.parse(at)
  return (
    <time dateTime={at} title={exactly(at)} className="whitespace-nowrap tabular-nums">
      {short ? inShort(millis, now) : inWords(millis, now)}
    </time>
  )
}
