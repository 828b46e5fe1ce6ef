/**
 * Counters and histograms of this process, on Effect's metrics, so that /metrics and OTLP show the same series.
 *
 * An update costs one look-up by its label values and makes no Effect. Every name is listed before its first update, so a scraper sees it
 * from the start. The number of series of a name is limited: a label that grows without end would fill the memory of the scraper.
 */
import { Context, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"

/** Series of one name. Further label values are counted as `other`. */
const seriesMax = 5_000
const other = "other"

/** Metrics are the process's own, so every update has the registry that Effect uses by default. */
const registry = Context.empty()

interface Family {
  readonly name: string
  readonly help: string
  readonly type: "counter" | "histogram"
  readonly isEmpty: () => boolean
}
const families: Array<Family> = []

type Labels<Name extends string> = Readonly<Record<Name, string>>
type Update<Name extends string> = (value: number, labels: Labels<Name>) => void

const family = <Name extends string>(
  { name, help, type }: Omit<Family, "isEmpty">,
  names: ReadonlyArray<Name>,
  make: (attributes: Readonly<Record<string, string>>) => Metric.Metric<number, unknown>
): Update<Name> => {
  const metrics = new Map<string, Metric.Metric<number, unknown>>()
  families.push({ name, help, type, isEmpty: () => metrics.size === 0 })
  const added = (key: string, values: ReadonlyArray<string>) => {
    const metric = make(Object.fromEntries(names.map((label, at) => [label, values[at] ?? ""])))
    metrics.set(key, metric)
    return metric
  }
  const metricOf = (values: ReadonlyArray<string>): Metric.Metric<number, unknown> => {
    const key = values.join("\n")
    const metric = metrics.get(key)
    if (metric !== undefined) return metric
    if (metrics.size < seriesMax) return added(key, values)
    const rest = names.map(() => other)
    return metrics.get(rest.join("\n")) ?? added(rest.join("\n"), rest)
  }
  // A series without labels exists from the start, so that its rate is known from the first event.
  if (names.length === 0) metricOf([]).valueUnsafe(registry)
  return (value, labels) => metricOf(names.map((label) => labels[label])).updateUnsafe(value, registry)
}

/** A counter. `value` is what is added. */
export const counter = <Name extends string = never>(
  name: string,
  help: string,
  names: ReadonlyArray<Name> = []
): Update<Name> =>
  family({ name, help, type: "counter" }, names, (attributes) =>
    Metric.counter(name, { description: help, incremental: true, attributes })
  )

/** A histogram. `value` is what is observed, in the unit that the name ends with. */
export const histogram = <Name extends string = never>(
  name: string,
  help: string,
  boundaries: ReadonlyArray<number>,
  names: ReadonlyArray<Name> = []
): Update<Name> =>
  family({ name, help, type: "histogram" }, names, (attributes) =>
    Metric.histogram(name, { description: help, boundaries, attributes })
  )

/** All series in the text format of Prometheus, and the header of every name that has none yet. */
export const seriesText = (): string =>
  [
    PrometheusMetrics.formatUnsafe(registry),
    ...families
      .filter((one) => one.isEmpty())
      .map(({ name, help, type }) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`)
  ].join("")
