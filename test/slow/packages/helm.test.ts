/**
 * The Helm chart, rendered by Helm and validated against the schemas of Kubernetes and of the Prometheus operator. No cluster is asked.
 *
 * What Helm renders is left out where there is none: `bun scripts/packages/helm.ts` gets one.
 */
import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import packageJson from "../../../package.json" with { type: "json" }
import { helmPath } from "../../../scripts/packages/helm.ts"

type Json = ReturnType<typeof JSON.parse>

const root = join(import.meta.dir, "..", "..", "..")
const chart = join(root, "deploy", "helm", "rungate")
const helm = helmPath()
if (helm === null) console.log("skipped: no Helm is here, so the chart is not rendered (bun scripts/packages/helm.ts)")

/** Every part of the chart at once. */
const everything = {
  secretName: "rungate",
  settings: { RUNGATE_PUBLIC_URL: "https://rungate.example.com", RUNGATE_MODE: "production" },
  imagePullSecrets: [{ name: "registry" }],
  priorityClassName: "payments",
  podLabels: { team: "data" },
  http: {
    autoscaling: { enabled: true },
    annotations: { note: "a" },
    nodeSelector: { disk: "ssd" },
    tolerations: [{ key: "a", operator: "Exists" }],
    affinity: { nodeAffinity: {} }
  },
  worker: { autoscaling: { enabled: true } },
  migrations: { ownerUrlKey: "OWNER_URL", serviceRole: "rungate_service" },
  ingress: { enabled: true, host: "rungate.example.com", className: "nginx", tlsSecretName: "certificate" },
  metrics: { serviceMonitor: { enabled: true, labels: { release: "prometheus" }, tokenKey: "RUNGATE_METRICS_TOKEN" } },
  networkPolicy: {
    enabled: true,
    metricsFrom: [{ namespaceSelector: { matchLabels: { name: "monitoring" } } }],
    httpFrom: [{ namespaceSelector: {} }]
  },
  serviceAccount: { annotations: { note: "a" } }
}

const run = (words: ReadonlyArray<string>, values: Json) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([helm ?? "", ...words, "--values", "-"], {
    stdin: Buffer.from(JSON.stringify(values)),
    env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent" }
  })
  return { exitCode, text: stdout.toString(), problems: `${stdout}${stderr}` }
}

const rendered = (values: Json): ReadonlyArray<Json> => {
  const { exitCode, text, problems } = run(["template", "prod", chart, "--namespace", "pay"], values)
  if (exitCode !== 0) throw new Error(problems)
  return [Bun.YAML.parse(text)].flat().filter((one) => one !== null)
}

const the = (all: ReadonlyArray<Json>, kind: string, name = "prod-rungate"): Json => {
  const found = all.filter((one) => one.kind === kind && one.metadata.name === name)
  expect([kind, name, found.length]).toEqual([kind, name, 1])
  return found[0]
}

const group: Readonly<Record<string, string>> = {
  v1: "kubernetes-models/v1",
  "apps/v1": "kubernetes-models/apps/v1",
  "autoscaling/v2": "kubernetes-models/autoscaling/v2",
  "batch/v1": "kubernetes-models/batch/v1",
  "networking.k8s.io/v1": "kubernetes-models/networking.k8s.io/v1",
  "policy/v1": "kubernetes-models/policy/v1",
  "monitoring.coreos.com/v1": "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1"
}

/** What its schema has against an object, or null. */
const objection = async (one: Json): Promise<string | null> => {
  const models: Json = await import(`${group[one.apiVersion]}/${one.kind}`)
  try {
    new models[one.kind](one).validate()
    return null
  } catch (error) {
    return String(error)
  }
}

test("the chart has the version of the package", () => {
  const about = Bun.YAML.parse(readFileSync(join(chart, "Chart.yaml"), "utf8"))
  expect(about).toMatchObject({ version: packageJson.version, appVersion: packageJson.version })
})

test("every setting that the chart names is one of the service", () => {
  const known = readFileSync(join(root, ".env.example"), "utf8")
  const values: Json = Bun.YAML.parse(readFileSync(join(chart, "values.yaml"), "utf8"))
  const templates = ["deployments", "migrate"].map((name) =>
    readFileSync(join(chart, "templates", `${name}.yaml`), "utf8")
  )
  const named = templates.flatMap((text) => Array.from(text.matchAll(/- name: ([A-Z_]+)$/gm), ([, name = ""]) => name))
  expect(named.length).toBeGreaterThan(3)
  for (const name of [...Object.keys(values.settings), ...named]) expect(known).toContain(`${name}=`)
})

describe.if(helm !== null)("Helm", () => {
  test("finds no fault in the chart", () => {
    const { exitCode, problems } = run(["lint", chart, "--strict"], everything)
    expect([exitCode, problems.match(/^\[(?:WARNING|ERROR)\].*/gm)]).toEqual([0, null])
  })

  test("renders objects that Kubernetes and the Prometheus operator accept", async () => {
    for (const values of [everything, { secretName: "rungate" }])
      for (const one of rendered(values)) expect([one.kind, await objection(one)]).toEqual([one.kind, null])
    expect(rendered(everything).map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(
        "Deployment Service ServiceAccount PodDisruptionBudget HorizontalPodAutoscaler Ingress NetworkPolicy ServiceMonitor Job".split(
          " "
        )
      )
    )
    // They do refuse what is wrong.
    const wrong = structuredClone(the(rendered(everything), "Deployment", "prod-rungate-http"))
    wrong.spec.template.spec.containers[0].readinessProbe.periodSeconds = "5s"
    expect(await objection(wrong)).toContain("periodSeconds")
  })

  test("runs both roles without rights, with probes, and gives them time to stop", () => {
    const all = rendered(everything)
    const [http, worker] = ["http", "worker"].map((role) => the(all, "Deployment", `prod-rungate-${role}`))
    for (const { spec } of [
      http.spec.template,
      worker.spec.template,
      the(all, "Job", "prod-rungate-migrate").spec.template
    ]) {
      expect(spec.automountServiceAccountToken).toBe(false)
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001 })
      expect(spec.containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] }
      })
      expect(spec.containers[0].envFrom).toEqual([{ secretRef: { name: "rungate" } }])
    }
    const [asked, working] = [http.spec.template.spec, worker.spec.template.spec]
    expect(asked.containers[0].readinessProbe.httpGet).toEqual({ path: "/readyz", port: "http" })
    expect(asked.containers[0].livenessProbe.httpGet).toEqual({ path: "/livez", port: "http" })
    expect(working.containers[0].livenessProbe.httpGet).toEqual({ path: "/livez", port: "metrics" })
    expect([asked.terminationGracePeriodSeconds, working.terminationGracePeriodSeconds]).toEqual([45, 40])
    // The number of pods is then the autoscaler's.
    expect([http.spec.replicas, worker.spec.replicas]).toEqual([undefined, undefined])
    expect(the(rendered({ secretName: "rungate" }), "Deployment", "prod-rungate-worker").spec.replicas).toBe(2)
  })

  test("adds workers by the age of the queues", () => {
    const { metrics, scaleTargetRef } = the(rendered(everything), "HorizontalPodAutoscaler", "prod-rungate-worker").spec
    expect(scaleTargetRef.name).toBe("prod-rungate-worker")
    expect(metrics.slice(0, 2).map(({ external }: Json) => external)).toEqual(
      ["commands", "runs"].map((queue) => ({
        metric: { name: "rungate_queue_age_seconds", selector: { matchLabels: { namespace: "pay", queue } } },
        target: { type: "Value", value: "5" }
      }))
    )
  })

  test("sends requests to the processes that answer them, and Prometheus to all", () => {
    const all = rendered(everything)
    const matches = (selector: Json, kind: string, name: string) => {
      const { labels } = the(all, kind, name).spec.template.metadata
      return Object.entries(selector).every(([key, value]) => labels[key] === value)
    }
    const places = [
      ["Deployment", "prod-rungate-http"],
      ["Deployment", "prod-rungate-worker"],
      ["Job", "prod-rungate-migrate"]
    ] as const
    const reached = (selector: Json) => places.map(([kind, name]) => matches(selector, kind, name))
    expect(reached(the(all, "Service").spec.selector)).toEqual([true, false, false])
    expect(reached(the(all, "Service", "prod-rungate-metrics").spec.selector)).toEqual([true, true, false])
    for (const role of ["http", "worker"])
      expect(reached(the(all, "PodDisruptionBudget", `prod-rungate-${role}`).spec.selector.matchLabels)).toEqual(
        role === "http" ? [true, false, false] : [false, true, false]
      )
    const { selector, endpoints } = the(all, "ServiceMonitor").spec
    expect(the(all, "Service", "prod-rungate-metrics").metadata.labels).toMatchObject(selector.matchLabels)
    expect(endpoints[0]).toMatchObject({ port: "metrics", authorization: { credentials: { name: "rungate" } } })
    // The public Service must not be scraped, or each pod would be counted twice.
    expect(the(all, "Service").metadata.labels["app.kubernetes.io/component"]).toBeUndefined()
  })

  test("migrates the database before an install and an upgrade, as the schema's owner", () => {
    const job = the(rendered(everything), "Job", "prod-rungate-migrate")
    expect(job.metadata.annotations["helm.sh/hook"]).toBe("pre-install,pre-upgrade")
    const { spec } = job.spec.template
    expect(spec.containers[0].args).toEqual(["migrate", "--service-role", "rungate_service"])
    expect(spec.containers[0].env).toContainEqual({
      name: "RUNGATE_MIGRATION_DATABASE_URL",
      valueFrom: { secretKeyRef: { name: "rungate", key: "OWNER_URL" } }
    })
    // The chart's account does not exist yet at that time.
    expect(spec.serviceAccountName).toBeUndefined()
  })

  test.each([
    [{}, "secretName"],
    [{ secretName: "rungate", wroker: {} }, "wroker"],
    [{ secretName: "rungate", http: { replicas: "two" } }, "replicas"],
    [{ secretName: "rungate", settings: { DATABASE_URL: "postgres://rungate:secret@db/rungate" } }, "settings"],
    [{ secretName: "rungate", ingress: { enabled: true } }, "ingress.host"]
  ])("refuses %j and names the value", (values, name) => {
    const { exitCode, problems } = run(["template", "prod", chart], values)
    expect(exitCode).not.toBe(0)
    expect(problems).toContain(name)
  })
})
