/**
 * The load: so many clients, each with one request under way, spread over the services, for so many seconds. Runs in its own process.
 *
 * `%n` in the body is another number for each run.
 */
export interface LoadResult {
  readonly runs: number
  readonly failed: number
  /** The first answer that was no success. */
  readonly failure: string | null
  readonly seconds: number
  readonly p50: number
  readonly p99: number
}

const input = { full_name: "Ada Lovelace", company_domain: "example.com" }

export const load = async (
  urls: ReadonlyArray<string>,
  keys: ReadonlyArray<string>,
  clients: number,
  seconds: number,
  template = JSON.stringify({ capability: "email.find", input })
): Promise<LoadResult> => {
  const numbered = template.includes("%n")
  let number = Date.now() * 1_000
  const latencies: Array<number> = []
  let failed = 0
  let failure: string | null = null
  const began = performance.now()
  const until = began + seconds * 1000
  const client = async (n: number) => {
    let turn = n
    const url = urls[n % urls.length] ?? ""
    while (performance.now() < until) {
      const key = keys[turn++ % keys.length] ?? ""
      const sent = performance.now()
      const response = await fetch(`${url}/v1/run`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: numbered ? template.replaceAll("%n", String(number++)) : template
      })
      const text = await response.text()
      if (response.status !== 200 || !text.includes('"succeeded"')) {
        failed += 1
        failure ??= `${response.status} ${text.slice(0, 300)}`
      }
      latencies.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, n) => client(n)))
  const took = (performance.now() - began) / 1000
  latencies.sort((a, b) => a - b)
  const at = (q: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))] ?? 0
  return { runs: latencies.length, failed, failure, seconds: took, p50: at(0.5), p99: at(0.99) }
}

if (import.meta.main) {
  const [url = "", keys = "", clients = "1", seconds = "1", body] = process.argv.slice(2)
  process.stdout.write(
    JSON.stringify(await load(url.split(","), keys.split(","), Number(clients), Number(seconds), body))
  )
}
