import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { scrapecreators } from "../../../src/layers/providers/scrapecreators/index.ts"
import { conforms } from "./conformance.ts"
import { answer, get, offerOf, type Played, secretInHeader, stage } from "./stage.ts"

const play = stage(scrapecreators)
const examples = join(import.meta.dir, "..", "..", "fixtures", "payloads", "scrapecreators")
const documented = (name: string, status = 200): Played =>
  answer(status, readFileSync(join(examples, `${name}.response.json`), "utf8"))
const body = (name: string) => JSON.parse(documented(name).body)
const credit = { unit: "credit", amount: "1" } as const

const conforming = (capability: string, input: unknown) =>
  conforms(scrapecreators, offerOf(scrapecreators, capability).request(input, { run_id: "run_1" }))

describe("scrapecreators social.profile", () => {
  const nobody = {
    following: null,
    posts_count: null,
    verified: null,
    external_links: null,
    email: null,
    category: null
  }
  const cases = [
    [
      { platform: "instagram", handle: "@jane" },
      get("/v1/instagram/profile", { handle: "jane" }),
      "v1.instagram.profile",
      {
        ...nobody,
        bio: "Scraping the web",
        followers: 25116,
        following: 101,
        posts_count: 71,
        verified: true,
        url: expect.stringMatching(/^https:\/\/www\.instagram\.com\/\w+/),
        external_links: expect.arrayContaining(["https://scrapecreators.com"]),
        category: "Lumine",
        name: "Sapeve Lemile"
      }
    ],
    [
      { platform: "tiktok", url: "https://www.tiktok.com/@keneke?lang=en" },
      get("/v1/tiktok/profile", { handle: "keneke" }),
      "v1.tiktok.profile",
      {
        ...nobody,
        handle: "keneke",
        name: "Nesu Monepe",
        bio: "El Nevina/Keroro Sports Founder.",
        followers: 4100000,
        following: 74,
        posts_count: 2017,
        verified: true,
        url: "https://www.tiktok.com/@keneke",
        external_links: ["https://www.lelulu.com/lusu/Misuvi-Keroro"]
      }
    ],
    [
      { platform: "x", url: "https://x.com/Vikalu/status/1" },
      get("/v1/twitter/profile", { handle: "Vikalu" }),
      "v1.twitter.profile",
      {
        ...nobody,
        handle: "Vikalu",
        name: "Vikalu Dadasu",
        followers: 377608,
        following: 1051,
        posts_count: 46114,
        verified: true,
        url: "https://x.com/Vikalu",
        external_links: ["http://vesuta.com"]
      }
    ],
    [
      { platform: "youtube", url: "https://www.youtube.com/@Nemori" },
      get("/v1/youtube/channel", { url: "https://www.youtube.com/@Nemori" }),
      "v1.youtube.channel",
      {
        ...nobody,
        handle: "Nemori",
        name: "The Kape Nemipe Show",
        bio: null,
        followers: 2750000,
        posts_count: 9221,
        url: "http://www.youtube.com/@Nemori",
        external_links: ["https://store.danape.com", "https://twitter.com/Danape", "https://instagram.com/danape"]
      }
    ],
    [
      { platform: "facebook", handle: "kadoro" },
      get("/v1/facebook/profile", {
        url: "https://www.facebook.com/kadoro",
        include_gated_profile: "true"
      }),
      "v1.facebook.profile",
      {
        ...nobody,
        handle: "kadoro",
        name: "Pevisu",
        bio: "Sakepe Kanele & Sasusu Restaurant",
        followers: 3200,
        url: "https://www.facebook.com/kadoro",
        external_links: ["https://www.pevisu.com/"],
        email: "contact@example.com",
        category: "Restaurant"
      }
    ],
    [
      { platform: "threads", handle: "trendspider" },
      get("/v1/threads/profile", { handle: "trendspider" }),
      "v1.threads.profile",
      {
        ...nobody,
        handle: "domodo",
        name: "Sports Nadole",
        bio: "Sports, sports and more sports.",
        followers: 551296,
        verified: true,
        url: "https://www.threads.net/@domodo",
        external_links: ["https://lnk.bio/domodo"]
      }
    ],
    [
      { platform: "bluesky", url: "https://bsky.app/profile/vesu.com" },
      get("/v1/bluesky/profile", { handle: "vesu.com" }),
      "v1.bluesky.profile",
      {
        ...nobody,
        handle: "vesu.com",
        name: "VESU",
        bio: "Serving sports fans. Kaleda. Anywhere.",
        followers: 198477,
        following: 32,
        posts_count: 659,
        verified: true,
        url: "https://bsky.app/profile/vesu.com"
      }
    ]
  ] as const
  for (const [input, asked, name, output] of cases) {
    test(input.platform, async () => {
      const played = await play("social.profile", input, documented(name))
      expect(played.asked).toEqual([expect.objectContaining({ ...asked, secret: secretInHeader })])
      expect(conforming("social.profile", input)).toEqual([])
      expect(played.outcome).toEqual({
        _tag: "Match",
        output: expect.objectContaining({ platform: input.platform, ...output }),
        cost: credit
      })
      const { avatar_url } = Object(played.outcome).output
      expect(avatar_url).toStartWith("https://")
    })
  }

  test("a community on Reddit, never a person", async () => {
    const input = { platform: "reddit", url: "https://www.reddit.com/r/AskReddit/" }
    const community = {
      success: true,
      credits_charged: 1,
      display_name: "AskReddit",
      subscribers: 5,
      description: "Ask"
    }
    const { asked, outcome } = await play("social.profile", input, answer(200, community))
    expect(asked[0]).toMatchObject(get("/v1/reddit/subreddit/details", { subreddit: "AskReddit" }))
    expect(conforming("social.profile", input)).toEqual([])
    expect(outcome).toMatchObject({
      output: { handle: "AskReddit", followers: 5, url: "https://www.reddit.com/r/AskReddit" }
    })
    const { serves } = offerOf(scrapecreators, "social.profile")
    expect(serves({ platform: "reddit", handle: "r/AskReddit" })).toBe(true)
    expect(serves({ platform: "reddit", handle: "u/somebody" })).toBe(false)
    expect(serves({ platform: "reddit", url: "https://www.reddit.com/user/somebody" })).toBe(false)
    expect(serves({ platform: "instagram", url: "https://www.instagram.com/" })).toBe(false)
  })

  test("an answer from the cache costs nothing", async () => {
    const { outcome } = await play(
      "social.profile",
      { platform: "tiktok", handle: "x" },
      documented("v1.tiktok.profile.cached")
    )
    expect(outcome).toMatchObject({ _tag: "Match", cost: { unit: "credit", amount: "0" } })
    expect(
      scrapecreators.measured({ status: 200, headers: {}, text: "", body: body("v1.tiktok.profile.cached") })
    ).toEqual({
      unit: "credit",
      amount: "0"
    })
  })

  test("a private page and one behind a gate are found", async () => {
    const input = { platform: "facebook", url: "https://www.facebook.com/Lutaka/" }
    const hidden = await play("social.profile", input, documented("v1.facebook.profile.private"))
    expect(hidden.outcome).toMatchObject({
      _tag: "Match",
      output: { url: "https://www.facebook.com/Lutaka/", name: null, handle: "Lutaka" }
    })
    const gated = await play("social.profile", input, documented("v1.facebook.profile.gated"))
    expect(gated.outcome).toMatchObject({
      output: { name: "Rinemo Pivivi", handle: "kasuri", verified: false }
    })
  })

  test("no such account", async () => {
    const input = { platform: "facebook", url: "https://www.facebook.com/nobody" }
    const gone = await play("social.profile", input, documented("v1.facebook.profile.404", 404))
    expect(gone.outcome).toEqual({ _tag: "NoMatch", detail: "no account found" })
    const unknown = await play("social.profile", { platform: "x", handle: "nobody" }, documented("error.404", 404))
    expect(unknown.outcome).toEqual({ _tag: "NoMatch", detail: "no account found" })
    const strange = await play("social.profile", { platform: "x", handle: "nobody" }, answer(404, "<h1>no route</h1>"))
    expect(strange.outcome).toEqual({ _tag: "Failure", reason: "provider_error", detail: "HTTP 404" })
  })

  const failures = [
    [documented("error.402", 402), "provider_account"],
    [documented("error.402", 200), "provider_account"],
    [answer(401, { success: false, message: "Invalid API key" }), "provider_account"],
    [answer(429, { success: false, message: "Slow down" }), "provider_rate_limited"],
    [answer(200, { success: false, errorStatus: 429 }), "provider_rate_limited"],
    [answer(200, { success: false, errorStatus: 500, message: "oops" }), "invalid_response"],
    [answer(500, "oops"), "provider_error"],
    [answer(200, { success: true, credits_charged: 1 }), "invalid_response"]
  ] as const
  for (const [index, [played, reason]] of failures.entries()) {
    test(`failure ${index}: ${played.status} is ${reason}`, async () => {
      const { outcome } = await play("social.profile", { platform: "x", handle: "nasa" }, played)
      expect(outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }
})

describe("scrapecreators social.posts", () => {
  const accounts = {
    instagram: ["v2.instagram.user.posts", "/v2/instagram/user/posts", { handle: "nasa" }],
    tiktok: ["v3.tiktok.profile.videos", "/v3/tiktok/profile/videos", { handle: "nasa" }],
    x: ["v1.twitter.user-tweets", "/v1/twitter/user-tweets", { handle: "nasa" }],
    youtube: ["v1.youtube.channel-videos", "/v1/youtube/channel-videos", { handle: "nasa" }],
    facebook: ["v1.facebook.profile.posts", "/v1/facebook/profile/posts", { url: "https://www.facebook.com/nasa" }],
    bluesky: ["v1.bluesky.user.posts", "/v1/bluesky/user/posts", { handle: "nasa" }]
  } as const
  const first = {
    instagram: {
      id: "3600545900919030401",
      url: "https://www.instagram.com/lelulu/p/DH3tWudxIKB/",
      created_at: "2025-03-31T16:29:30.000Z",
      likes: 387,
      comments: 12,
      shares: null,
      views: 35499
    },
    tiktok: {
      id: "7517114944362499342",
      text: "Made-up text 165.",
      created_at: "2025-06-18T02:45:25.000Z",
      likes: 59605,
      comments: 587,
      shares: 3424,
      views: 559925
    },
    x: {
      id: "1828402665845322123",
      created_at: "2024-08-27T12:02:20.000Z",
      likes: 1722,
      comments: 3186,
      shares: 64,
      views: 493762,
      media: ["https://lolo.dolule.com/media/GV_KiM-W0AEa31c.png"]
    },
    youtube: {
      id: "5EWaxmWgQMI",
      url: "https://www.youtube.com/watch?v=5EWaxmWgQMI",
      created_at: "2025-01-23T22:48:53.914Z",
      likes: null,
      views: 110447
    },
    facebook: { id: "1204545088344463", created_at: "2024-12-18T20:19:30.000Z", likes: 133, comments: 12, views: null },
    bluesky: {
      url: "https://bsky.app/profile/vesu.com/post/3lqdfq7fkvm2g",
      created_at: "2025-05-29T19:01:20.743Z",
      likes: 24,
      comments: 1,
      shares: 0
    }
  } as const
  const next = {
    instagram: "scrapecreators:0.3599731065704772932_260462810",
    tiktok: "scrapecreators:0.1748286476000",
    x: null,
    youtube: "scrapecreators:0.4qmFsgLlFhIYV....",
    facebook: expect.stringMatching(/^scrapecreators:0\.Cg8Ob3JnYW5pY19jdXJzb3IJ/),
    bluesky: "scrapecreators:0.2025-05-22T17:02:02.847Z"
  } as const
  for (const platform of ["instagram", "tiktok", "x", "youtube", "facebook", "bluesky"] as const) {
    test(platform, async () => {
      const [name, path, query] = accounts[platform]
      const input = { platform, handle: "nasa" }
      const { asked, outcome } = await play("social.posts", input, documented(name))
      expect(asked[0]).toMatchObject({ ...get(path, query), secret: secretInHeader })
      expect(conforming("social.posts", input)).toEqual([])
      expect(outcome).toMatchObject({ _tag: "Match", cost: credit })
      const { items, next_cursor, total } = Object(outcome).output
      expect(items[0]).toMatchObject(first[platform])
      expect(total).toBeNull()
      expect(next_cursor).toEqual(next[platform])
    })
  }

  test("threads, which shows one page", async () => {
    const input = { platform: "threads", handle: "zuck", limit: 1 }
    const one = {
      pk: "7",
      code: "AbC",
      user: { username: "zuck" },
      caption: { text: "Hi" },
      like_count: 3,
      taken_at: 1700000000
    }
    const { asked, outcome } = await play("social.posts", input, answer(200, { success: true, posts: [one, one] }))
    expect(asked[0]).toMatchObject(get("/v1/threads/user/posts", { handle: "zuck" }))
    expect(conforming("social.posts", input)).toEqual([])
    expect(outcome).toMatchObject({
      output: {
        items: [
          {
            id: "7",
            url: "https://www.threads.net/@zuck/post/AbC",
            text: "Hi",
            created_at: "2023-11-14T22:13:20.000Z",
            likes: 3,
            media: null
          }
        ],
        next_cursor: "scrapecreators:1."
      }
    })
    const rest = await play(
      "social.posts",
      { ...input, cursor: "scrapecreators:1." },
      answer(200, { success: true, posts: [one, { ...one, pk: "8" }] })
    )
    expect(rest.outcome).toMatchObject({ output: { items: [{ id: "8" }], next_cursor: null } })
  })

  test("a page that is cut is read on from there, and the next page follows it", async () => {
    const input = { platform: "facebook", url: "https://www.facebook.com/ludave", limit: 2 }
    const page = documented("v1.facebook.profile.posts")
    const cut = await play("social.posts", input, page)
    expect(Object(cut.outcome).output.items).toHaveLength(2)
    expect(Object(cut.outcome).output.next_cursor).toBe("scrapecreators:2.")
    const rest = await play("social.posts", { ...input, cursor: "scrapecreators:2.abc" }, page)
    expect(rest.asked[0]?.query).toEqual({ url: "https://www.facebook.com/ludave", cursor: "abc" })
    expect(Object(rest.outcome).output.items).toHaveLength(1)
    expect(Object(rest.outcome).output.next_cursor).toStartWith("scrapecreators:0.Cg8O")
    expect(conforming("social.posts", { ...input, cursor: "scrapecreators:2.abc" })).toEqual([])
  })

  test("the last pages have no cursor", async () => {
    const last = { success: true, more_available: false, next_max_id: "x", items: [{ pk: "1" }] }
    const { outcome } = await play("social.posts", { platform: "instagram", handle: "nasa" }, answer(200, last))
    expect(outcome).toMatchObject({ output: { next_cursor: null } })
  })

  test("a channel's id is not a handle", () => {
    const { request } = offerOf(scrapecreators, "social.posts")
    const input = { platform: "youtube", url: "https://www.youtube.com/channel/UCxcTeAKWJca6XyJ37_ZoKIQ" }
    expect(request(input, { run_id: "run_1" }).query).toMatchObject({ channelId: "UCxcTeAKWJca6XyJ37_ZoKIQ" })
    expect(conforming("social.posts", input)).toEqual([])
  })

  test("no posts, no account, no list; cursors of others", async () => {
    const input = { platform: "x", handle: "nobody" }
    const none = await play("social.posts", input, answer(200, { success: true, credits_charged: 1, tweets: [] }))
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "no posts", cost: credit })
    expect((await play("social.posts", input, documented("error.404", 404))).outcome?._tag).toBe("NoMatch")
    const strange = await play("social.posts", input, answer(200, { success: true, tweets: {} }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
    const { serves } = offerOf(scrapecreators, "social.posts")
    expect(serves({ ...input, cursor: "ensembledata:0.1" })).toBe(false)
    expect(serves({ ...input, cursor: "scrapecreators:0.1" })).toBe(true)
  })
})

describe("scrapecreators ads.search", () => {
  test("meta, by words", async () => {
    const input = { platform: "meta", query: "running", country: "us", active_only: true }
    const { asked, outcome } = await play("ads.search", input, documented("v1.facebook.adLibrary.search.ads"))
    const query = { query: "running", status: "ACTIVE", country: "US" }
    expect(asked[0]).toMatchObject({ ...get("/v1/facebook/adLibrary/search/ads", query), secret: secretInHeader })
    expect(conforming("ads.search", input)).toEqual([])
    expect(outcome).toMatchObject({
      _tag: "Match",
      cost: credit,
      output: {
        total: 50001,
        next_cursor: expect.stringMatching(/^scrapecreators:0\.AQHRYLV/),
        items: expect.arrayContaining([
          {
            id: "615470338018648",
            advertiser: "SADA Mokata Doluke",
            platform: "meta",
            headline: null,
            text: expect.stringContaining("Discover the unmatched joy"),
            image_url: expect.stringContaining("https://sanesa"),
            video_url: null,
            landing_url: null,
            started_at: "2025-02-28T08:00:00.000Z",
            ended_at: null,
            active: true,
            library_url: "https://www.facebook.com/ads/library/?id=615470338018648"
          }
        ])
      }
    })
  })

  test("meta, by advertiser and by domain", async () => {
    const named = { platform: "meta", company_name: "Instagram" }
    const { asked, outcome } = await play("ads.search", named, documented("v1.facebook.adLibrary.company.ads"))
    expect(asked[0]).toMatchObject(
      get("/v1/facebook/adLibrary/company/ads", { companyName: "Instagram", status: "ALL" })
    )
    expect(conforming("ads.search", named)).toEqual([])
    expect(Object(outcome).output.items[0]).toMatchObject({
      advertiser: "Instagram",
      landing_url: "http://fb.me/1171219090745394",
      video_url: expect.stringContaining("https://"),
      image_url: expect.stringContaining("https://")
    })
    const domain = { platform: "meta", company_domain: "example.com" }
    const by = await play("ads.search", domain, documented("v1.facebook.adLibrary.search.ads"))
    expect(by.asked[0]?.query).toEqual({ query: "example.com", search_type: "keyword_exact_phrase", status: "ALL" })
    expect(conforming("ads.search", domain)).toEqual([])
  })

  test("google, by domain", async () => {
    const input = { platform: "google", company_domain: "dopepi.com", limit: 1 }
    const { asked, outcome } = await play("ads.search", input, documented("v1.google.company.ads"))
    expect(asked[0]).toMatchObject(get("/v1/google/company/ads", { domain: "dopepi.com" }))
    expect(conforming("ads.search", input)).toEqual([])
    expect(outcome).toMatchObject({
      output: {
        total: 20000,
        next_cursor: "scrapecreators:1.",
        items: [
          {
            id: "CR08567627846124568577",
            advertiser: "dopepi nasuda canada inc.",
            started_at: "2026-03-11T17:08:22.000Z",
            ended_at: "2026-05-04T17:59:12.000Z",
            active: null,
            library_url: expect.stringContaining("https://nepivi.google.com/")
          }
        ]
      }
    })
  })

  test("network, by name", async () => {
    const input = { platform: "network", company_name: "microsoft", country: "us", cursor: "scrapecreators:0.756-17" }
    const { asked, outcome } = await play("ads.search", input, documented("v1.linkedin.ads.search"))
    const query = { company: "microsoft", countries: "US", paginationToken: "756-17" }
    expect(asked[0]).toMatchObject(get("/v1/linkedin/ads/search", query))
    expect(conforming("ads.search", input)).toEqual([])
    expect(outcome).toMatchObject({
      output: { total: 8699, next_cursor: "scrapecreators:0.756412693-1754569518292" }
    })
    expect(Object(outcome).output.items[0]).toMatchObject({
      id: "823975056",
      advertiser: "Microsoft",
      started_at: "2025-08-10T05:00:00.000Z",
      library_url: "https://www.linkedin.com/ad-library/detail/823975056"
    })
  })

  test("tiktok, by name", async () => {
    const input = { platform: "tiktok", company_name: "Lesake" }
    const { asked, outcome } = await play("ads.search", input, documented("v1.tiktok.ad-library.search"))
    expect(asked[0]).toMatchObject(get("/v1/tiktok/ad-library/search", { advertiser_name: "Lesake" }))
    expect(conforming("ads.search", input)).toEqual([])
    expect(outcome).toMatchObject({
      output: {
        total: 62344,
        next_cursor: "scrapecreators:0.opaque cursor for the next page",
        items: [{ id: "1871655924410641", advertiser: "LESAKE LTD", started_at: "2026-07-25T00:00:00.000Z" }]
      }
    })
  })

  test("leaves to others what a library can't do", () => {
    const { serves } = offerOf(scrapecreators, "ads.search")
    expect(serves({ platform: "google", company_name: "Dopepi" })).toBe(false)
    expect(serves({ platform: "google", company_domain: "dopepi.com", active_only: true })).toBe(false)
    expect(serves({ platform: "network", company_domain: "microsoft.com" })).toBe(false)
    expect(serves({ platform: "tiktok", company_name: "a", query: "b" })).toBe(false)
    expect(serves({ platform: "tiktok", query: "b", country: "us" })).toBe(false)
    expect(serves({ platform: "meta", query: "b", company_name: "a" })).toBe(false)
    expect(serves({ platform: "meta", query: "b", cursor: "leadmagic:2" })).toBe(false)
  })

  test("no ads are a miss, nonsense is not", async () => {
    const input = { platform: "tiktok", query: "b" }
    const none = await play("ads.search", input, answer(200, { success: true, credits_charged: 1, ads: [] }))
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "no ads", cost: credit })
    const strange = await play("ads.search", input, answer(200, { success: true, ads: "none" }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })
})

describe("scrapecreators network.profile and company.enrich", () => {
  test("a person, without what is hidden", async () => {
    const input = { network_url: "linkedin.com/in/rivevi" }
    const { asked, outcome } = await play("network.profile", input, documented("v1.linkedin.profile"))
    expect(asked[0]).toMatchObject(get("/v1/linkedin/profile", { url: "https://linkedin.com/in/rivevi" }))
    expect(conforming("network.profile", input)).toEqual([])
    expect(outcome).toMatchObject({
      _tag: "Match",
      cost: credit,
      output: {
        full_name: "Sam Vena",
        company_name: "Losuri",
        location: { city: "Westport", region: "Connecticut", country: "United States" },
        followers: 64803,
        connections: null,
        about: expect.stringContaining("I founded The Lonene"),
        education: expect.arrayContaining([
          { school: "Velota University", degree: null, field: null, start_date: "2008", end_date: "2012" }
        ]),
        skills: null,
        is_connected: null
      }
    })
    expect(JSON.stringify(outcome)).not.toContain("***")
    const nameless = await play("network.profile", input, answer(200, { success: true }))
    expect(nameless.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
    expect((await play("network.profile", input, documented("error.404", 404))).outcome?._tag).toBe("NoMatch")
  })

  test("a company", async () => {
    const input = { network_url: "https://linkedin.com/company/vinasu" }
    const { asked, outcome } = await play("company.enrich", input, documented("v1.linkedin.company"))
    expect(asked[0]).toMatchObject(get("/v1/linkedin/company", { url: "https://linkedin.com/company/vinasu" }))
    expect(conforming("company.enrich", input)).toEqual([])
    expect(outcome).toMatchObject({
      output: {
        name: "Vinasu",
        domain: "vinasu.com",
        website: "https://www.vinasu.com",
        network_url: "https://linkedin.com/company/vinasu",
        industry: "Software Development",
        employee_count: 23591,
        employee_range: "10,001+ employees",
        founded_year: 2006,
        location: { city: "Lorisa", region: "ON", country: "CA" },
        funding: null,
        provider_ids: { scrapecreators: "784652" }
      }
    })
    expect((await play("company.enrich", input, documented("error.404", 404))).outcome?._tag).toBe("NoMatch")
  })
})

describe("scrapecreators web.search", () => {
  test("a page of results", async () => {
    const input = {
      query: "vikalu dadasu",
      limit: 1,
      country: "us",
      recency: "week",
      include_domains: ["x.com", "a.com"],
      exclude_domains: ["b.com"]
    }
    const { asked, outcome } = await play("web.search", input, documented("v1.google.search"))
    expect(asked[0]).toMatchObject(
      get("/v1/google/search", {
        query: "vikalu dadasu (site:x.com OR site:a.com) -site:b.com",
        region: "US",
        date_posted: "last-week"
      })
    )
    expect(conforming("web.search", input)).toEqual([])
    expect(outcome).toMatchObject({
      _tag: "Match",
      cost: credit,
      output: { items: [{ title: "Vikalu Dadasu ✓", url: "https://x.com/Vikalu", position: 1 }], next_cursor: null }
    })
    expect(Object(outcome).output.items).toHaveLength(1)
  })

  test("nothing found, and what it leaves to others", async () => {
    const none = await play(
      "web.search",
      { query: "x" },
      answer(200, { success: true, credits_charged: 1, results: [] })
    )
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "no pages found", cost: credit })
    const { serves } = offerOf(scrapecreators, "web.search")
    expect(serves({ query: "x", limit: 11 })).toBe(false)
    expect(serves({ query: "x", language: "en" })).toBe(false)
  })
})
