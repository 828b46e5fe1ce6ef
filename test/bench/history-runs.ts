/**
 * Made-up runs of a year, as agents make them: a few domains are in everything, most people come up once.
 *
 * The same number gives the same runs. Shapes of inputs, results and plans are those of the shipped capabilities.
 */
export interface MadeRun {
  /** Which organization; the first has half of all runs. */
  readonly org: number
  /** 0 to 1: when in the year. */
  readonly at: number
  readonly kind: "capability" | "endpoint"
  readonly capability: string | null
  readonly endpoint: string | null
  readonly provider: string
  readonly status: "succeeded" | "no_match" | "failed" | "timed_out"
  /** Microdollars. */
  readonly charged: bigint | null
  readonly hold: bigint
  readonly input: string
  readonly plan: string
  readonly result: string | null
  /** What somebody may ask about it. */
  readonly about: ReadonlyArray<Asked>
}

export const askedKinds = ["email", "domain", "network", "handle", "phone", "url", "text"] as const
export type AskedKind = (typeof askedKinds)[number]
export interface Asked {
  readonly kind: AskedKind
  readonly q: string
}

/** Of each organization's share of the runs. */
export const orgShares: ReadonlyArray<number> = [0.5, 0.2, 0.15, 0.1, 0.05]

const syllables =
  "al ber cor da el fin gar hel il jo ka lin mar nor ol per quin ros sol tan ul ver wil xan yor zen bra cla dre fre gra".split(
    " "
  )
/** The words of every sentence; what follows them in `wordOf` comes up ever more rarely. */
const common =
  "the of and to in for is on that with as it by this are from at be your we an or our you new how not can more all what when best use has one which about if will up out so they their".split(
    " "
  )
const topics =
  "growth team market product launch pricing customer report survey engine data cloud field service partner release guide review industry hiring funding round series software logistics retail finance platform workflow automation sales outreach pipeline quarter forecast benchmark security privacy policy research annual summary interview podcast webinar conference keynote roadmap open source database network energy climate health education mobile design analytics revenue".split(
    " "
  )
const vocabulary = 20_000
const wordOf = (n: number) =>
  common[n] ?? topics[n - common.length] ?? `${nameOf(n, 2)}${syllables[n % syllables.length] ?? ""}`
const titles = ["Head of Sales", "Product Manager", "Software Engineer", "Marketing Director", "Founder", "Buyer"]
const cities = ["Berlin", "Austin", "Lyon", "Leeds", "Porto", "Oslo", "Toronto"]
const endings = ["com", "com", "com", "io", "de", "co.uk", "org", "ai"]
const platforms = ["https://x.com/", "https://www.instagram.com/", "https://www.tiktok.com/@", "https://github.com/"]

const companiesMax = 50_000
const sitesMax = 20_000
/** Of the people that a run is about, so many come up for the first time. */
const newPeople = 0.6
const freeMail = 0.12
const recentPeople = 20_000

const mulberry = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const nameOf = (n: number, parts: number): string => {
  let text = ""
  for (let rest = (n * 2_654_435_761) % 4_294_967_296, i = 0; i < parts; i++) {
    text += syllables[rest % syllables.length]
    rest = Math.floor(rest / syllables.length) + n
  }
  return text
}
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
const domainOf = (n: number) => `${nameOf(n, 3)}${n % 97 === 0 ? "-group" : ""}${n}.${endings[n % endings.length]}`

const personOf = (n: number, company: number) => {
  const first = nameOf(n % 3_000, 2)
  const last = `${nameOf(n % 90_000, 3)}${n % 11 === 0 ? "son" : ""}`
  const domain = n % 100 < freeMail * 100 ? "gmail.com" : domainOf(company)
  return {
    full_name: `${capital(first)} ${capital(last)}`,
    email: `${first}.${last}${domain === "gmail.com" ? n : ""}@${domain}`,
    company_domain: domainOf(company),
    company_name: capital(nameOf(company, 3)),
    network_url: `https://www.linkedin.com/in/${first}-${last}-${n.toString(36)}`,
    phone: `+4930${String(10_000_000 + (n % 90_000_000))}`,
    social: `${platforms[n % platforms.length]}${first}${last}${n}`,
    title: titles[n % titles.length] ?? "",
    city: cities[n % cities.length] ?? ""
  }
}
type Person = ReturnType<typeof personOf>

const planOf = (providers: ReadonlyArray<string>, side_effect: boolean) => ({
  providers,
  attempts_max: providers.length,
  routing: "auto",
  include_raw: false,
  side_effect,
  excluded: []
})

/** Endless; take as many as wanted. `total` is how many people come up in a year of so many runs. */
export function* madeRuns(total: number, seed = 1): Generator<MadeRun> {
  const random = mulberry(seed)
  /** Zipf's law with exponent 1: rank `n` comes up in proportion to 1/n. */
  const zipf = (max: number) => Math.min(max - 1, Math.floor(Math.exp(random() * Math.log(max + 1))) - 1)
  const below = (max: number) => Math.floor(random() * max)
  const phrase = (count: number) => Array.from({ length: count }, () => wordOf(zipf(vocabulary))).join(" ")
  /** Most come up again within days; a few, such as somebody's own address in every test, again and again. */
  const known = (max: number) =>
    random() < 0.02 ? zipf(20) : max - 1 - Math.floor(Math.min(max, recentPeople) * random() ** 2)
  let people = 0
  const person = (org: number) => {
    const n = people < 100 || random() < newPeople ? people++ : known(people)
    return personOf(n * orgShares.length + org, zipfOf(n))
  }
  /** A person stays with one company. */
  const zipfOf = (n: number) => {
    const share = (Math.imul(n + 1, 2_246_822_519) >>> 0) / 4_294_967_296
    return Math.min(companiesMax - 1, Math.floor(Math.exp(share * Math.log(companiesMax + 1))) - 1)
  }

  const emailResult = (one: Person) => ({
    ...{ email: one.email, email_status: "valid", confidence: 80 + below(20), first_name: one.full_name.split(" ")[0] },
    ...{ last_name: one.full_name.split(" ")[1], company_domain: one.company_domain, source_count: below(4) }
  })
  const profile = (one: Person) => ({
    ...{
      full_name: one.full_name,
      headline: `${one.title} at ${one.company_name}`,
      title: one.title,
      seniority: "head"
    },
    ...{ company_name: one.company_name, company_domain: one.company_domain, network_url: one.network_url },
    location: { city: one.city, region: null, country: "Germany" },
    ...{ email: one.email, email_status: "valid", phone: random() < 0.3 ? one.phone : null, twitter_url: one.social },
    provider_ids: { apollo: `id_${below(1e9)}` },
    experience: [
      { title: one.title, company_name: one.company_name, company_domain: one.company_domain, start_date: "2021-03" },
      { title: "Analyst", company_name: phrase(2), company_domain: domainOf(zipf(companiesMax)), start_date: "2016-01" }
    ],
    education: [{ school: `University of ${one.city}`, degree: null, field: "economics", start_date: "2010" }],
    skills: [phrase(1), phrase(2), phrase(1)],
    match_confidence: 0.9
  })

  interface Draft {
    readonly capability: string | null
    readonly endpoint?: string
    readonly provider: string
    readonly cost: bigint
    readonly input: unknown
    readonly plan?: unknown
    readonly result: () => unknown
    readonly about: ReadonlyArray<Asked>
  }

  const drafts: ReadonlyArray<readonly [share: number, draft: (org: number) => Draft]> = [
    [
      0.25,
      (org) => {
        const one = person(org)
        const { full_name, company_domain, email } = one
        return {
          ...{ capability: "email.find", provider: "leadmagic", cost: 12_000n, input: { full_name, company_domain } },
          ...{ result: () => emailResult(one) },
          about: [
            { kind: "domain", q: company_domain },
            { kind: "email", q: email },
            { kind: "text", q: full_name }
          ]
        }
      }
    ],
    [
      0.2,
      (org) => {
        const { email } = person(org)
        return {
          ...{ capability: "email.verify", provider: "millionverifier", cost: 3_000n, input: { email } },
          result: () => ({
            ...{ email, email_status: "valid", score: 95, is_disposable: false, is_role: false, is_free: false },
            ...{ mx_found: true, did_you_mean: null, provider_status: "deliverable" }
          }),
          about: [{ kind: "email", q: email }]
        }
      }
    ],
    [
      0.15,
      (org) => {
        const { email, full_name } = person(org)
        const first = full_name.split(" ")[0]
        const text = `Hello ${first},\n\n${phrase(50)}.\n\nBest regards, the team. See https://${domainOf(org + 7)}/${topics[below(20)]}`
        return {
          ...{ capability: "email.send", provider: "resend", cost: 1_080n },
          input: { from: `Sales <hello@${domainOf(org + 7)}>`, to: [email], subject: capital(phrase(6)), text },
          result: () => ({
            message_id: crypto.randomUUID(),
            thread_id: null,
            accepted: [email],
            provider_status: "sent"
          }),
          about: [{ kind: "email", q: email }]
        }
      }
    ],
    [
      0.15,
      (org) => {
        const one = person(org)
        const { email, network_url, full_name, phone, social } = one
        return {
          ...{ capability: "people.enrich", provider: "apollo", cost: 29_400n },
          input: random() < 0.5 ? { network_url: network_url.replace("www.", "de.") } : { email },
          result: () => profile(one),
          about: [
            { kind: "network", q: network_url },
            { kind: "handle", q: social },
            { kind: "phone", q: phone },
            { kind: "text", q: full_name }
          ]
        }
      }
    ],
    [
      0.08,
      () => {
        const n = zipf(companiesMax)
        const domain = domainOf(n)
        const name = capital(nameOf(n, 3))
        return {
          ...{ capability: "company.enrich", provider: "leadmagic", cost: 12_000n, input: { domain } },
          result: () => ({
            ...{ name, domain, website: `https://${domain}/`, industry: topics[n % topics.length], founded_year: 1990 },
            network_url: `https://www.linkedin.com/company/${nameOf(n, 3)}${n}`,
            ...{ employee_count: 51 + below(1000), description: `${name} makes ${phrase(20)}.`, revenue: null },
            ...{ technologies: ["PostgreSQL", "TypeScript"], phone: `+1415555${String(n % 10_000).padStart(4, "0")}` }
          }),
          about: [
            { kind: "domain", q: domain },
            { kind: "network", q: `https://www.linkedin.com/company/${nameOf(n, 3)}${n}` }
          ]
        }
      }
    ],
    [
      0.1,
      () => {
        const query = Array.from({ length: 4 }, () => wordOf(common.length + zipf(vocabulary))).join(" ")
        const items = Array.from({ length: 10 }, (_, index) => ({
          title: capital(phrase(7)),
          url: `https://www.${domainOf(100_000 + zipf(sitesMax))}/${phrase(4).replaceAll(" ", "-")}?page=${zipf(5_000)}`,
          ...{ snippet: `${capital(phrase(25))}.`, published_at: "2026-01-08", score: 0.9, position: index + 1 }
        }))
        return {
          ...{ capability: "web.search", provider: "serper", cost: 1_193n, input: { query, limit: 10 } },
          result: () => ({ items, answer: null, total: 10, next_cursor: null }),
          about: [
            { kind: "text", q: query },
            { kind: "url", q: items[below(10)]?.url ?? "" },
            { kind: "domain", q: new URL(items[below(10)]?.url ?? "").hostname }
          ]
        }
      }
    ],
    [
      0.07,
      (org) => {
        const { email, company_domain, social, title } = person(org)
        const path = `v1/people/${encodeURIComponent(email)}`
        const raw = {
          ...{ method: "GET", endpoint: "/v1/people/{email}", path, query: [["domain", company_domain]] },
          ...{ body_type: "none", encoding: "json", has_body: false, hold: "0.05", estimate: "0.01" }
        }
        return {
          ...{ capability: null, endpoint: "/v1/people/{email}", provider: "hunter", cost: 10_000n, input: {} },
          plan: { ...planOf(["hunter"], false), raw },
          result: () => ({ data: { address: email, profiles: [social], employer: company_domain, role: title } }),
          about: [
            { kind: "email", q: email },
            { kind: "handle", q: social }
          ]
        }
      }
    ]
  ]

  const orgOf = () => {
    let rest = random()
    const found = orgShares.findIndex((share) => (rest -= share) < 0)
    return found < 0 ? 0 : found
  }
  const draftOf = (org: number): Draft => {
    let rest = random()
    const [, draft] = drafts.find(([share]) => (rest -= share) < 0) ??
      drafts[0] ?? [
        0,
        () => {
          throw new Error("none")
        }
      ]
    return draft(org)
  }

  for (let n = 0; ; n++) {
    const org = orgOf()
    const { capability, endpoint = null, provider, cost, input, plan, result, about } = draftOf(org)
    const luck = random()
    const status =
      luck < 0.04
        ? "failed"
        : luck < 0.05
          ? "timed_out"
          : luck < 0.12 && capability !== "email.send"
            ? "no_match"
            : "succeeded"
    yield {
      ...{
        org,
        at: n / total,
        kind: capability === null ? "endpoint" : "capability",
        capability,
        endpoint,
        provider,
        status
      },
      ...{ charged: status === "succeeded" ? cost : null, hold: cost * 2n, input: JSON.stringify(input) },
      plan: JSON.stringify(plan ?? planOf([provider, "prospeo"], capability === "email.send")),
      result: status === "succeeded" ? JSON.stringify(result()) : null,
      about
    }
  }
}
