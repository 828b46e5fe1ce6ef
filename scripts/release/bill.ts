/**
 * The software bill of materials in CycloneDX: what the service runs with, and what the web console is made of.
 *
 * `npm sbom` lists what the lockfile has. Its own `--omit dev` also leaves out packages that both the service and a tool of the build need, so the
 * tools are left out here. It differs with the lockfile only: times and numbers that would be new each time are not in it.
 */
import { installedPackages } from "../notices.ts"

interface Component {
  readonly "bom-ref": string
  readonly properties: ReadonlyArray<{ readonly name: string; readonly value: string }>
}

interface Bill {
  readonly serialNumber?: string
  readonly metadata: { readonly timestamp: string; readonly component: Component }
  readonly components: ReadonlyArray<Component>
  readonly dependencies: ReadonlyArray<{ readonly ref: string; readonly dependsOn: ReadonlyArray<string> }>
}

const forDevelopment = "cdx:npm:package:development"

/** `listed` is the answer of `npm sbom`, with the tools of the build. */
export const billOf = (listed: string, timestamp: string): string => {
  const { serialNumber: _, ...bill }: Bill = JSON.parse(listed)
  const shipped = installedPackages()
  const isTool = (one: Component) => one.properties.some(({ name }) => name === forDevelopment)
  const components = bill.components
    .filter((one) => !isTool(one) || shipped.has(one["bom-ref"]))
    .map((one) => ({
      ...one,
      properties: isTool(one)
        ? [...one.properties.filter(({ name }) => name !== forDevelopment), { name: "rungate:part", value: "console" }]
        : one.properties
    }))
  const refs = new Set([bill.metadata.component["bom-ref"], ...components.map((one) => one["bom-ref"])])
  const dependencies = bill.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }))
  return `${JSON.stringify({ ...bill, metadata: { ...bill.metadata, timestamp }, components, dependencies }, null, 2)}\n`
}
