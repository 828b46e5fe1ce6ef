/** What a release runs to publish its parts, in this order: what others build upon comes first. */
import { join } from "node:path"

export interface PublishStep {
  readonly title: string
  readonly command: ReadonlyArray<string>
  /** Why it can't run here, or null. */
  readonly missing: string | null
}

const platforms = "linux/amd64,linux/arm64"

/** `registry` is where the image and the chart go, such as `registry.example.com/acme`. */
export const publishSteps = (
  folder: string,
  version: string,
  registry: string | undefined
): ReadonlyArray<PublishStep> => {
  const place = (...names: ReadonlyArray<string>) => join(folder, ...names)
  const here = registry === undefined || registry === "" ? "RELEASE_REGISTRY is not set" : null
  const publish = ["npm", "publish", "--access", "public"]
  const context = place("image", `rungate-${version}-context.tar.gz`)
  const image = `${registry}/rungate:${version}`
  return [
    { title: "the service on npm", command: [...publish, place("npm", `rungate-${version}.tgz`)], missing: null },
    { title: "the client on npm", command: [...publish, place("npm", `rungate-client-${version}.tgz`)], missing: null },
    {
      title: "the Python client",
      command: [
        "python3",
        "-m",
        "twine",
        "upload",
        place("python", `rungate-${version}-py3-none-any.whl`),
        place("python", `rungate-${version}.tar.gz`)
      ],
      missing: null
    },
    {
      title: "the image",
      command: [
        "sh",
        "-c",
        `docker buildx build --platform ${platforms} --sbom=true --provenance=true --tag "$1" --push - < "$0"`,
        context,
        image
      ],
      missing: here
    },
    {
      title: "the chart",
      command: ["helm", "push", place("helm", `rungate-${version}.tgz`), `oci://${registry}/charts`],
      missing: here
    }
  ]
}
