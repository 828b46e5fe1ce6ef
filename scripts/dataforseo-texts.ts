/**
 * Reads the texts about request fields from DataForSEO's Python client, which is under the MIT licence, and writes the file that the
 * manifest of DataForSEO names as `texts`: `bun scripts/dataforseo-texts.ts <checkout of dataforseo/PythonClient>`.
 *
 * DataForSEO's OpenAPI document has no licence. Its names, types and ranges are facts; the sentences come from here.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { plainText } from "../src/layers/catalog/import/kit/text.ts"

export const textsFolder = join(import.meta.dir, "..", "src", "layers", "catalog", "import", "texts")

/** By path of a request, the class of its body. */
const bodiesOf = (client: string): ReadonlyArray<readonly [string, string]> => {
  const folder = join(client, "dataforseo_client", "api")
  return readdirSync(folder)
    .filter((name) => name.endsWith("_api.py"))
    .flatMap((name) =>
      readFileSync(join(folder, name), "utf8")
        .split(/^ {4}def _\w+_serialize\(/m)
        .slice(1)
    )
    .flatMap((text) => {
      const [, body] = /'List\[Optional\[(\w+)\]\]': ''/.exec(text) ?? []
      const [, path] = /resource_path='([^']+)'/.exec(text) ?? []
      return body === undefined || path === undefined ? [] : [[path, body] as const]
    })
}

/** By class, its fields and their texts. */
const classesOf = (client: string): ReadonlyMap<string, Readonly<Record<string, string>>> => {
  const folder = join(client, "dataforseo_client", "models")
  return new Map(
    readdirSync(folder)
      .filter((name) => name.endsWith(".py"))
      .flatMap((name) => {
        const text = readFileSync(join(folder, name), "utf8")
        const [, title] = /^class (\w+)\(/m.exec(text) ?? []
        const fields = [...text.matchAll(/^ {4}(\w+): .*Field\(default=None, description=r"(.*)"\)$/gm)].map(
          ([, field = "", said = ""]) => [field, plainText(said.replace(/(^|[ .])\*([^*\n]{1,300})\*/g, "$1$2"))]
        )
        return title === undefined
          ? []
          : [[title, Object.fromEntries(fields.filter(([, said]) => said !== ""))] as const]
      })
  )
}

const main = (client: string | undefined): number => {
  if (client === undefined) {
    console.error("usage: bun scripts/dataforseo-texts.ts <checkout of dataforseo/PythonClient>")
    return 2
  }
  const classes = classesOf(client)
  const texts: Array<string> = []
  const places = new Map<string, number>()
  const place = (text: string): number => {
    const known = places.get(text)
    if (known !== undefined) return known
    places.set(text, texts.push(text) - 1)
    return texts.length - 1
  }
  const placed = (name: string) =>
    Object.fromEntries(Object.entries(classes.get(name) ?? {}).map(([field, text]) => [field, place(text)]))
  const used = ["AiOptimizationLLmMentionsCrossAggregateMetricsTargetInfo", "SerpApiStopCrawlOnMatchInfo"]
  const fields = Object.fromEntries(
    [...bodiesOf(client), ...used.map((name) => [name, name] as const)]
      .filter(([owner, body]) => classes.has(body) && !/id_list$|errors$/.test(owner))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([owner, body]) => [owner, placed(body)])
  )
  const bytes = Bun.gzipSync(new TextEncoder().encode(JSON.stringify({ texts, fields })), { level: 9 })
  // Byte 9 of the gzip header is the operating system, the only part that differs between machines.
  bytes[9] = 255
  writeFileSync(join(textsFolder, "dataforseo.json.gz"), bytes)
  console.log(`${texts.length} texts of ${Object.keys(fields).length} requests, ${bytes.byteLength} bytes`)
  return 0
}

if (import.meta.main) process.exit(main(process.argv[2]))
