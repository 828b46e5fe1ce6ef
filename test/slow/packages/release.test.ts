/** A release: what it is made of, and what would be published. Building all of it takes half a minute, so it is done on one day of four (`dueToday`). */
import { afterAll, describe, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import packageJson from "../../../package.json" with { type: "json" }
import { billOf } from "../../../scripts/release/bill.ts"
import { publishSteps } from "../../../scripts/release/publish.ts"
import { changelogWith, chartWith, sectionOf, serverWith } from "../../../scripts/release/version.ts"
import { dueToday } from "../../kit/input-samples.ts"

const root = join(import.meta.dir, "..", "..", "..")
const { version } = packageJson

describe("npm version", () => {
  const changelog = "# Changelog\n\n## Unreleased\n\n- New.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n"

  test("gives what was unreleased a section, once", () => {
    const made = changelogWith(changelog, "0.2.0", "2026-02-03")
    expect(made).toContain("## Unreleased\n\n## 0.2.0 (2026-02-03)\n\n- New.\n\n## 0.1.0")
    expect(changelogWith(made, "0.2.0", "2026-02-04")).toBe(made)
    expect([sectionOf(made, "0.2.0"), sectionOf(made, "0.1.0"), sectionOf(changelog, "0.2.0")]).toEqual([
      "- New.",
      "- Old.",
      "- New."
    ])
    expect(sectionOf(made, "0.2")).toBe("")
  })

  test("gives the chart the version of the package", () => {
    const chart = readFileSync(join(root, "deploy", "helm", "rungate", "Chart.yaml"), "utf8")
    expect(chartWith(chart, version)).toBe(chart)
    expect(Bun.YAML.parse(chartWith(chart, "1.2.3"))).toMatchObject({ version: "1.2.3", appVersion: "1.2.3" })
  })

  test("gives the entry of MCP registries the version of the package", () => {
    const entry = readFileSync(join(root, "server.json"), "utf8")
    expect(serverWith(entry, version)).toBe(entry)
    expect(JSON.parse(serverWith(entry, "1.2.3"))).toMatchObject({ version: "1.2.3", packages: [{ version: "1.2.3" }] })
  })
})

test("the entry of MCP registries has what their schema demands, and names this package and its command", async () => {
  const { name, description, packages, remotes } = await Bun.file(join(root, "server.json")).json()
  // A registry reads the name in the published package, to see that both have the same owner.
  expect(packageJson.mcpName).toBe(name)
  expect(name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
  expect(description.length).toBeLessThanOrEqual(100)
  const [{ registryType, identifier, transport, packageArguments, environmentVariables }] = packages
  expect([registryType, identifier, transport.type]).toEqual(["npm", packageJson.name, "stdio"])
  expect(packageArguments).toEqual([{ type: "positional", value: "mcp" }])
  const command = readFileSync(join(root, "docs", "cli.md"), "utf8")
  for (const variable of environmentVariables) expect(command).toContain(`\`${variable.name}\``)
  const [{ type, url, variables }] = remotes
  expect([type, url.replace("{host}", "rungate.example")]).toEqual(["streamable-http", "https://rungate.example/mcp"])
  expect(Object.keys(variables)).toEqual(["host"])
})

test("the image and the chart are published only where a registry is named, and the packages come first", () => {
  const without = publishSteps("/release", "1.2.3", undefined)
  expect(without.map(({ missing }) => missing !== null)).toEqual([false, false, false, true, true])
  const all = publishSteps("/release", "1.2.3", "registry.example.com/acme")
  expect(all.every(({ missing }) => missing === null)).toBe(true)
  expect(all.map(({ command }) => command.join(" ")).join("\n")).toMatch(
    /rungate-1\.2\.3\.tgz[^]*rungate-client-1\.2\.3\.tgz[^]*twine[^]*linux\/amd64,linux\/arm64[^]*acme\/rungate:1\.2\.3[^]*oci:\/\/registry\.example\.com\/acme\/charts/
  )
})

test("the software bill has what runs and what the console is made of, and no tool of the build", () => {
  const listed = Bun.spawnSync(["npm", "sbom", "--package-lock-only", "--sbom-format", "cyclonedx"], { cwd: root })
  const text = billOf(`${listed.stdout}`, "2026-01-01T00:00:00.000Z")
  const bill = JSON.parse(text)
  expect([bill.bomFormat, bill.metadata.component.purl]).toEqual(["CycloneDX", `pkg:npm/rungate@${version}`])
  const refs = new Set(bill.components.map((one: { "bom-ref": string }) => one["bom-ref"]))
  const { dependencies, devDependencies } = packageJson
  for (const [name, wanted] of Object.entries(dependencies)) expect(refs).toContain(`${name}@${wanted}`)
  // All that the lockfile installs for use is there.
  const lock: Record<string, { version: string; dev?: boolean; devOptional?: boolean }> = JSON.parse(
    readFileSync(join(root, "package-lock.json"), "utf8")
  ).packages
  for (const [path, { version: locked, dev, devOptional }] of Object.entries(lock))
    if (path !== "" && dev !== true && devOptional !== true)
      expect(refs).toContain(`${path.split("node_modules/").at(-1)}@${locked}`)
  expect(refs).toContain(`react@${devDependencies.react}`)
  for (const name of ["typescript", "oxlint", "kubernetes-models"] as const)
    expect(refs).not.toContain(`${name}@${devDependencies[name]}`)
  for (const { ref, dependsOn } of bill.dependencies)
    for (const one of [ref, ...dependsOn]) expect(one === `rungate@${version}` || refs.has(one)).toBe(true)
  expect(text).not.toContain("serialNumber")
})

describe.if(dueToday(0))("npm run release -- --dry-run", () => {
  const folder = mkdtempSync(join(tmpdir(), "rungate-release-"))
  const into = join(folder, "release")
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const ran = (...words: ReadonlyArray<string>) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync([...words], { cwd: into })
    return { exitCode, text: `${stdout}`, problems: `${stderr}` }
  }

  test("builds every part, with checksums, provenance and a software bill that agree, and publishes nothing", () => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(
      [process.execPath, join(root, "scripts", "release", "release.ts"), "--dry-run", "--into", into],
      { cwd: root, env: { ...process.env, RELEASE_REGISTRY: "registry.example.com/acme" } }
    )
    expect([exitCode, exitCode === 0 ? "" : `${stderr}`]).toEqual([0, ""])
    expect(`${stdout}`.match(/^would run: /gm)).toHaveLength(5)
    const files = readdirSync(into, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(into.length + 1))
    expect(files.sort()).toEqual(
      [
        "NOTES.md",
        "SHA256SUMS",
        "THIRD_PARTY_NOTICES",
        `helm/rungate-${version}.tgz`,
        `image/rungate-${version}-context.tar.gz`,
        `npm/rungate-${version}.tgz`,
        `npm/rungate-client-${version}.tgz`,
        `python/rungate-${version}-py3-none-any.whl`,
        `python/rungate-${version}.tar.gz`,
        `rungate-${version}.cdx.json`,
        `rungate-${version}.provenance.json`
      ].sort()
    )
    const checked = ran("sha256sum", "--check", "--strict", "SHA256SUMS")
    expect([checked.exitCode, checked.text.match(/: OK$/gm)?.length]).toEqual([0, files.length - 1])

    const read = (name: string) => JSON.parse(readFileSync(join(into, name), "utf8"))
    const statement = read(`rungate-${version}.provenance.json`)
    expect(statement).toMatchObject({
      _type: "https://in-toto.io/Statement/v1",
      predicateType: "https://slsa.dev/provenance/v1"
    })
    const sums = readFileSync(join(into, "SHA256SUMS"), "utf8")
    for (const { name, digest } of statement.subject) expect(sums).toContain(`${digest.sha256}  ${name}\n`)
    expect(statement.subject).toHaveLength(8)

    const listed = (file: string) => ran("tar", "-tzf", file).text.split("\n")
    expect(listed(`image/rungate-${version}-context.tar.gz`)).toEqual(
      expect.arrayContaining(["Dockerfile", ".dockerignore", "package-lock.json", "src/main.ts"])
    )
    const context = listed(`image/rungate-${version}-context.tar.gz`)
    expect(context.filter((name) => /^(test|deploy|node_modules|\.git)\//.test(name))).toEqual([])
    expect(listed(`npm/rungate-${version}.tgz`)).toEqual(
      expect.arrayContaining([
        "package/dist/service/rungate.js",
        "package/deploy/systemd/rungate.service",
        "package/deploy/helm/rungate/Chart.yaml"
      ])
    )
    expect(listed(`helm/rungate-${version}.tgz`)).toContain("rungate/values.schema.json")
  })
})
