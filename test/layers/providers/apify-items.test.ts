/** What Apify's offers read from items as the actors' own descriptions print them. */
import { describe, expect, test } from "bun:test"
import { apify } from "../../../src/layers/providers/apify/index.ts"
import { example, reviewed } from "./example.ts"
import { answer, offerOf, type Played, stage } from "./stage.ts"

const play = stage(apify)
const run = [example("apify", "actor_run", 201), example("apify", "run.pay_per_event")]
const cost = { unit: "USD", amount: "0.00805" }

/** Plays a run whose dataset has these items. With a record, it is read before them. */
const read = async (capability: string, input: unknown, items: unknown, ...record: ReadonlyArray<Played>) =>
  (await play(capability, input, ...run, ...record, answer(200, items))).outcome
const expectMatch = async (
  capability: string,
  input: unknown,
  items: unknown,
  output: unknown,
  ...record: ReadonlyArray<Played>
) => expect(await read(capability, input, items, ...record)).toEqual({ _tag: "Match", output, cost } as never)
const listed = (...items: ReadonlyArray<unknown>) => ({ items, total: null, next_cursor: null })
const contact = { email: null, email_status: null, phone: null }

describe("people.search", () => {
  const found = () => reviewed("apify-people.search")
  const person = {
    ...contact,
    full_name: "Vidodo Mimone, Rosado",
    first_name: "Vidodo",
    last_name: "Mimone, Rosado",
    headline: expect.stringContaining("Takasa"),
    title: "Staff Pharmacist (made-up text 6)",
    seniority: null,
    company_name: "ROKE Health",
    company_domain: null,
    network_url: "https://www.linkedin.com/in/vidodo-mimone",
    location: { city: "Los Angeles", region: "California", country: "United States of America" },
    provider_ids: { apify: "ACoAACLevxsBfWQoDUYkHyCP2jzl81cDAvckQEI" }
  }
  const input = { titles: ["pharmacist"] }

  test("a full profile, whose title is that of the job that goes on", async () => {
    await expectMatch("people.search", input, found(), listed(person))
  })

  test("a job that ended, or another employer's, is nobody's current title", async () => {
    const title = async (change: (profile: ReturnType<typeof JSON.parse>) => void) => {
      const profiles = found()
      change(profiles[0])
      const outcome = await read("people.search", input, profiles)
      const [one] = outcome?._tag === "Match" ? Object(outcome.output).items : []
      return [one.title, one.company_name]
    }
    expect(await title((one) => Object.assign(one.experience[0].endDate, { text: "Dec 2024" }))).toEqual([
      null,
      "ROKE Health"
    ])
    expect(await title((one) => Object.assign(one.experience[0], { companyName: "Another" }))).toEqual([
      null,
      "ROKE Health"
    ])
    expect(await title((one) => Object.assign(one, { currentPosition: [] }))).toEqual([
      person.title,
      person.company_name
    ])
    const undated = (one: ReturnType<typeof JSON.parse>) => delete one.experience[0].endDate
    expect(await title(undated)).toEqual([person.title, "ROKE Health"])
    expect(await title((one) => undated(Object.assign(one, { currentPosition: [] })))).toEqual([null, null])
    expect(await title((one) => Object.assign(one.currentPosition[0], { position: "Chief" }))).toEqual([
      "Chief",
      "ROKE Health"
    ])
  })
})

describe("web.scrape", () => {
  const url = "https://example.com"
  test("markdown", async () => {
    await expectMatch("web.scrape", { url }, reviewed("apify-web.scrape"), {
      url,
      final_url: null,
      status_code: null,
      title: null,
      content: "Made-up text 53. Example Domain; examples",
      links: null,
      metadata: {}
    })
  })

  test("text, with the links of the page", async () => {
    const whole = { url, format: "text", only_main_content: false }
    await expectMatch("web.scrape", whole, reviewed("apify-web.scrape.text"), {
      url,
      final_url: url,
      status_code: 200,
      title: "Example Domain",
      content: "Example Domain (made-up text 55) examples",
      links: ["https://www.dado.org/domains/example"],
      metadata: { description: "Made-up text 54. examples", language: "en" }
    })
  })

  test("a page that can't be read is a miss", async () => {
    const outcome = await read("web.scrape", { url }, [{ success: false, error: "no such host" }])
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "no such host", cost } as never)
    for (const more of [{ format: "html" }, { format: "links" }, { format: "text" }, { wait_ms: 1 }])
      expect(offerOf(apify, "web.scrape").serves({ url, ...more })).toBe(false)
  })
})

test("places.search", async () => {
  const found = reviewed("apify-places.search")
  const place = {
    name: "Example Pizza",
    address: "123 Main St, New York, NY 10001",
    phone: "+1 212-555-0100",
    website: "https://example.com",
    rating: 4.5,
    reviews: 1250,
    lat: 40.7501,
    lng: -73.997,
    place_id: "Lulupi",
    category: "Pizza restaurant"
  }
  await expectMatch("places.search", { query: "pizza" }, found, listed(place))
  const { full_address: _address, phone_numbers: _numbers, ...shorter } = found[0]
  await expectMatch("places.search", { query: "pizza" }, [shorter], listed(place))
})

test("news.search", async () => {
  await expectMatch(
    "news.search",
    { query: "trucks" },
    reviewed("apify-news.search"),
    listed({
      title: "Example News Article",
      url: "https://example.com/news/article",
      source: "Example Source",
      published_at: "2026-05-02T10:30:00+00:00",
      snippet: "Article summary text...",
      image_url: "https://news.google.com/api/attachments/example-thumbnail.jpg"
    })
  )
  for (const more of [{ recency: "day" }, { company_domain: "example.com" }, { limit: 11 }])
    expect(offerOf(apify, "news.search").serves({ query: "trucks", ...more })).toBe(false)
})

test("domain.check", async () => {
  const unknown = { premium: null, price: null, renewal_price: null, currency: null, min_years: null }
  const domain = "example.com"
  await expectMatch("domain.check", { domain }, reviewed("apify-domain.check"), {
    domain,
    available: false,
    ...unknown
  })
  const failed = [{ success: false, available: false, error: "the registry did not answer" }]
  expect(await read("domain.check", { domain }, failed)).toMatchObject({
    reason: "provider_error",
    detail: "the registry did not answer"
  })
})

describe("network.profile", () => {
  const input = { network_url: "https://www.linkedin.com/in/williamhgates" }
  const profile = {
    ...contact,
    full_name: "Bill Gates",
    first_name: null,
    last_name: null,
    headline: null,
    title: "Co-lurine",
    seniority: null,
    company_name: "Bill & Velosu Gates Pelupi",
    company_domain: null,
    network_url: input.network_url,
    location: { city: "Seattle", region: "Washington", country: "United States" },
    provider_ids: {},
    about: expect.stringContaining("Founder of Rokavi Energy"),
    followers: 35000000,
    connections: 500,
    experience: [
      {
        title: "Co-lurine",
        company_name: "Bill & Velosu Gates Pelupi",
        company_domain: null,
        start_date: "2000",
        end_date: null,
        is_current: true
      }
    ],
    education: [
      {
        school: "Lerole University",
        degree: "Vidopi's degree",
        field: "Applied Lepika and Computer Science",
        start_date: "1973",
        end_date: "1975"
      }
    ],
    skills: ["Public Suluvi", "Monami Planning", "Software Development"],
    is_connected: null
  }

  test("a profile with positions, studies and skills", async () => {
    await expectMatch("network.profile", input, reviewed("apify-network.profile"), profile)
  })

  test("a profile without them, and a job that ended", async () => {
    const [{ experience, education: _education, skills: _skills, ...rest }] = reviewed("apify-network.profile")
    const bare = { ...profile, education: null, skills: null }
    const untitled = { title: "Co-lurine (made-up text 2) Bill & Velosu Gates Pelupi", company_name: null }
    await expectMatch("network.profile", input, [rest], { ...bare, ...untitled, experience: null })
    const ended = [{ ...experience[0], end_date: "2020" }]
    await expectMatch("network.profile", input, [{ ...rest, experience: ended }], {
      ...bare,
      ...untitled,
      experience: [{ ...profile.experience[0], end_date: "2020", is_current: false }]
    })
  })

  test("a profile that does not exist is a miss, and one that can't be read a failure", async () => {
    const missing = { success: false, error: "Scrappa API error (404): Not found", status_code: 404 }
    expect((await read("network.profile", input, [missing]))?._tag).toBe("NoMatch")
    const broken = { success: false, error: "unavailable", status_code: 500 }
    expect(await read("network.profile", input, [broken])).toMatchObject({
      reason: "provider_error",
      detail: "unavailable"
    })
    expect(offerOf(apify, "network.profile").serves({ identifier: "jane-doe" })).toBe(false)
  })
})

describe("social.profile", () => {
  test("an Instagram account, with its picture and its link", async () => {
    await expectMatch(
      "social.profile",
      { platform: "instagram", handle: "keloro" },
      reviewed("apify-social.profile.instagram"),
      {
        platform: "instagram",
        handle: "keloro",
        name: "National Geographic",
        bio: "Made-up text 52. National Geographic",
        followers: 280000000,
        following: 170,
        posts_count: 30000,
        verified: true,
        avatar_url: "https://...",
        url: "https://www.instagram.com/keloro/",
        external_links: ["https://www.netata.com/"],
        email: null,
        category: null
      }
    )
  })

  test("a TikTok account, whose name the actor writes with an @", async () => {
    await expectMatch(
      "social.profile",
      { platform: "tiktok", handle: "tiktok" },
      reviewed("apify-social.profile.tiktok"),
      {
        platform: "tiktok",
        handle: "tiktok",
        name: "TikTok",
        bio: "The official TikTok account",
        followers: 90000000,
        following: 0,
        posts_count: 1000,
        verified: true,
        avatar_url: "https://...",
        url: "https://www.tiktok.com/@tiktok",
        external_links: null,
        email: null,
        category: null
      }
    )
  })

  test("serves names that the platforms have", () => {
    const { serves } = offerOf(apify, "social.profile")
    expect(serves({ platform: "youtube", handle: "keloro" })).toBe(false)
    expect(serves({ platform: "instagram", handle: "two words" })).toBe(false)
  })
})

describe("social.posts", () => {
  const instagram = { platform: "instagram", handle: "keloro" }
  const tiktok = { platform: "tiktok", handle: "tiktok" }
  const noRecord = answer(404, { error: { type: "record-not-found", message: "Record was not found" } })
  const onInstagram = {
    id: "3819535222330010870",
    url: "https://www.instagram.com/keloro/p/DUBtwxGEqz2/",
    text: "Post caption text...",
    created_at: "2024-01-15T10:30:00+00:00",
    likes: 125000,
    comments: 3500,
    shares: null,
    views: 5000000,
    media: ["https://...", "https://..."]
  }
  const onTiktok = {
    id: "7568510388342443294",
    url: "https://www.tiktok.com/@tiktok/video/7568510388342443294",
    text: "Example post caption",
    created_at: "2024-11-09T14:19:53.000Z",
    likes: 12345,
    comments: 678,
    shares: 90,
    views: 1234567,
    media: null
  }

  test("posts of an Instagram account, with their pictures and videos", async () => {
    const found = reviewed("apify-social.posts.instagram")
    await expectMatch("social.posts", instagram, found, listed(onInstagram), noRecord)
    const dated = [{ ...found[0], taken_at: 1_700_000_000, media: [] }]
    const output = listed({ ...onInstagram, created_at: "2023-11-14T22:13:20.000Z", media: null })
    await expectMatch("social.posts", instagram, dated, output, noRecord)
  })

  test("posts of a TikTok account, whose name the actor writes with an @", async () => {
    const found = reviewed("apify-social.posts.tiktok")
    await expectMatch("social.posts", tiktok, found, listed(onTiktok), noRecord)
    const { lookup_unique_id: _name, ...unnamed } = found[0]
    await expectMatch("social.posts", tiktok, [unnamed], listed(onTiktok), noRecord)
  })

  // The record is documented in words: `more_available` and `next_max_id`; `hasMore` and `cursor` in the actor's source.
  const page = (posts: number) => Array.from({ length: posts }, () => ({}))
  const records: ReadonlyArray<[string, unknown, unknown, string | null]> = [
    ["Instagram's next page", instagram, { posts: page(10), more_available: true, next_max_id: "QVFD" }, "apify:QVFD"],
    ["the last page", instagram, { posts: page(10), more_available: false, next_max_id: "QVFD" }, null],
    ["a page that the limit cuts", instagram, { posts: page(12), more_available: true, next_max_id: "QVFD" }, null],
    ["a token of no end", instagram, { posts: [], more_available: true, next_max_id: "Q".repeat(500) }, null],
    [
      "TikTok's next page",
      tiktok,
      { data: { videos: page(10), hasMore: true, cursor: 1731161993 } },
      "apify:1731161993"
    ],
    ["TikTok's last page", tiktok, { data: { videos: page(3), hasMore: false, cursor: 1731161993 } }, null],
    ["another kind of record", tiktok, [7, "x"], null]
  ]
  test.each(records)("%s", async (_name, input, record, next) => {
    const found = reviewed(`apify-social.posts.${input === tiktok ? "tiktok" : "instagram"}`)
    const outcome = await read("social.posts", input, found, answer(200, record))
    expect(outcome).toMatchObject({ _tag: "Match", output: { next_cursor: next }, cost })
  })

  test("a record that is not there yet is asked for again, and not for ever", async () => {
    const found = answer(200, reviewed("apify-social.posts.instagram"))
    const record = answer(200, { posts: page(1), more_available: true, next_max_id: "QVFD" })
    const late = answer(503, {})
    const saved = await play("social.posts", instagram, ...run, late, late, record, found)
    expect(saved.outcome).toMatchObject({ _tag: "Match", output: { next_cursor: "apify:QVFD" } })
    const lost = await play("social.posts", instagram, ...run, ...Array(6).fill(late), found)
    expect(lost.outcome).toMatchObject({ _tag: "Match", output: { next_cursor: null } })
  })

  test("serves its own cursors", () => {
    const { serves } = offerOf(apify, "social.posts")
    expect(serves({ ...instagram, cursor: "apify:QVFD" })).toBe(true)
    expect(serves({ ...instagram, cursor: "ensembledata:0.QVFD" })).toBe(false)
  })
})

test("ads.search reads one ad", async () => {
  const query = "https://ads.tiktok.com/business/creativecenter/topads/7213160569871581185/pc/en"
  await expectMatch(
    "ads.search",
    { platform: "tiktok", query },
    reviewed("apify-ads.search"),
    listed({
      id: "7213160569871581185",
      advertiser: "Example advertiser",
      platform: "tiktok",
      headline: null,
      text: "Example ad text",
      image_url: "https://...",
      video_url: "https://...",
      landing_url: "https://example.com",
      started_at: null,
      ended_at: null,
      active: null,
      library_url: query
    })
  )
  const missing = [{ request_url: query, result_found: false }]
  expect((await read("ads.search", { platform: "tiktok", query }, missing))?._tag).toBe("NoMatch")
  expect(offerOf(apify, "ads.search").serves({ platform: "tiktok", query: "shoes" })).toBe(false)
})

describe("serp.search", () => {
  const input = { query: "pizza" }
  // As the actor's description prints an item and its record.
  const found = [
    {
      position: 1,
      title: "Example Title",
      link: "https://example.com/page",
      displayed_link: "example.com › page",
      snippet: "Description text from the search result...",
      source: "example.com"
    }
  ]
  const record = {
    search_information: { query_displayed: "your search query", total_results: 1000000 },
    related_searches: [{ query: "related query", link: "https://..." }],
    related_questions: [{}],
    knowledge_graph: {},
    local_results: null,
    inline_videos: []
  }
  const items = [
    {
      type: "organic",
      position: 1,
      title: "Example Title",
      url: "https://example.com/page",
      domain: "example.com",
      snippet: "Description text from the search result..."
    }
  ]

  test("has the fields that the actor's source names", () => {
    const { _dataset_items_shape: shape } = reviewed("apify-serp.search.UNWIRED")
    for (const field of ["position", "title", "link", "snippet"]) expect(shape[0]).toHaveProperty(field)
  })

  test("results, and what the page shows beside them", async () => {
    const output = { total_results: 1000000, total: 1000000, next_cursor: null }
    const features = ["knowledge_graph", "people_also_ask", "related_searches"]
    await expectMatch("serp.search", input, found, { items, features, ...output }, answer(200, record))
  })

  test("results whose record can't be read, and a page without results", async () => {
    const unknown = { features: [], total_results: null, total: null, next_cursor: null }
    await expectMatch("serp.search", input, found, { items, ...unknown }, answer(404, {}))
    expect((await read("serp.search", input, [], answer(200, record)))?._tag).toBe("NoMatch")
    const outcome = await read("serp.search", input, [{ name: "x" }], answer(200, record))
    expect(outcome).toMatchObject({ reason: "invalid_response" })
  })

  test("serves one page of web results", () => {
    const { serves } = offerOf(apify, "serp.search")
    for (const more of [{ depth: 11 }, { type: "maps" }, { device: "mobile" }])
      expect(serves({ ...input, ...more })).toBe(false)
  })
})

describe("seo.domain", () => {
  const input = { domain: "google.com" }
  const found = () => reviewed("apify-seo.domain.UNWIRED")

  test("the rank, the visits from search and the top keywords", async () => {
    const output = {
      organic_keywords: null,
      // 84172772881 visits, of which 7.65 % come from search
      organic_traffic: 6443229363,
      paid_keywords: null,
      top_keywords: [{ keyword: "gmail", position: null, volume: 114101130, url: null }],
      rank: 1
    }
    await expectMatch("seo.domain", input, found(), output)
    const [site] = found()
    const many = [{ ...site, top_keywords: Array.from({ length: 12 }, (_, at) => ({ keyword: `k${at}` })) }]
    const outcome = await read("seo.domain", { ...input, limit: 5 }, many)
    expect(outcome?._tag === "Match" && Object(outcome.output).top_keywords.length).toBe(5)
  })

  test("a domain without data is a miss only if the actor says so", async () => {
    const error = "No traffic data available"
    const missing = [{ success: false, domain: "new-example-site.invalid", error }]
    expect(await read("seo.domain", input, missing)).toEqual({ _tag: "NoMatch", detail: error, cost } as never)
    for (const items of [[], [{ success: true }]])
      expect(await read("seo.domain", input, items)).toMatchObject({ reason: "invalid_response" })
  })

  test("serves domains without a country: its figures are of all", () => {
    const { serves } = offerOf(apify, "seo.domain")
    expect(serves(input)).toBe(true)
    expect(serves({ ...input, country: "us" })).toBe(false)
    expect(serves({ ...input, language: "en" })).toBe(false)
  })
})
