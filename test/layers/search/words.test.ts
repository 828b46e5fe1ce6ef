/** Stems, tokens, synonyms, prefixes and typos: which words find which. */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { textMax } from "../../../src/layers/search/Document.ts"
import { search } from "../../../src/layers/search/Index.ts"
import { reading } from "../../../src/layers/search/Reading.ts"
import { stem } from "../../../src/layers/search/Stems.ts"
import { synonyms } from "../../../src/layers/search/synonyms.ts"
import { queryWords, queryWordsMax, tokensOf, termsOf } from "../../../src/layers/search/Tokens.ts"
import { editsBetween, idOf, nearTerms, prefixRange, vocabularyOf } from "../../../src/layers/search/Vocabulary.ts"
import { capabilityNamed, endpointAt, indexOf, slugsFor } from "./documents.ts"

describe("stems", () => {
  test.each([
    ["companies company"],
    ["verify verifies verified verifying verifier verification"],
    ["scrape scraper scrapers scraping scraped"],
    ["hire hiring hired"],
    ["image images"],
    ["address addresses"],
    ["box boxes"],
    ["movie movies"],
    ["person people persons"],
    ["list lists listing listings listed"],
    ["run running runs"],
    ["ad ads advertising advertiser"],
    ["status statuses"],
    ["business businesses"]
  ])("%s are one", (words) => {
    expect(new Set(words.split(" ").map(stem)).size).toBe(1)
  })

  test.each([
    ["file filing"],
    ["new news"],
    ["string str"],
    ["king k"],
    ["bus business"],
    ["use user"],
    ["post poster"],
    ["whois whoi"]
  ])("%s are not", (words) => {
    expect(new Set(words.split(" ").map(stem)).size).toBe(2)
  })

  test("leave at least two letters of any word", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{2,20}$/), (word) => {
        expect(stem(word).length).toBeGreaterThanOrEqual(2)
      })
    )
  })
})

describe("tokens", () => {
  test("come from slugs, paths, camelCase and digits", () => {
    expect(termsOf("email-finder")).toEqual(["email", "find"])
    expect(termsOf("/v5/person/{personId}")).toEqual(["v5", "person", "person", "id", "personid"])
    expect(termsOf("LinkedIn")).toEqual(["link", "linkedin"])
    expect(termsOf("CIK{cik}.json")).toEqual(["cik", "cik", "json"])
    expect(termsOf("form10")).toEqual(["form", "10", "form10"])
    expect(termsOf("b2b")).toEqual(["b2b"])
  })

  test("fold accents, widths and case", () => {
    expect(termsOf("Zürich ＡＢＣ")).toEqual(termsOf("zurich abc"))
  })

  test("are never stop words or hashes", () => {
    expect(termsOf(`please find me the of a ${"f".repeat(64)}`)).toEqual(["find"])
  })

  test("of a query are bounded", () => {
    expect(queryWords("word ".repeat(5_000)).length).toBe(queryWordsMax)
  })
})

describe("reading into numbers", () => {
  const { words, sequence, read } = reading(new Map())
  const readTerms = (text: string) => Array.from(sequence.subarray(0, read(text)), (term) => words[term]!)

  test("gives the terms that tokenizing gives", () => {
    const letter = fc.constantFrom(..."abzAZ019-_/ .,éßü²½①日ﬁＡ’—…→☀🙂🏆🄰🯱\u0301\ud83d\udc00\ud800\u200d\u0000")
    const word = fc.constantFrom("LinkedIn", "emails", "e-mail", "naïve", "the", "GPT4 ", "x".repeat(50), " — ")
    fc.assert(
      fc.property(fc.array(fc.oneof(letter, word), { maxLength: 30 }), (pieces) => {
        const text = pieces.join("")
        expect(readTerms(text)).toEqual([...termsOf(text)])
      }),
      { numRuns: 2000 }
    )
  })

  test("knows thousands of words apart", () => {
    const made = Array.from({ length: 20_000 }, (_, at) => `w${at.toString(36)}q`)
    for (const word of made) read(word)
    expect(made.filter((word) => readTerms(word)[0] !== termsOf(word)[0])).toEqual([])
  })

  test("stops at the limit", () => {
    expect(readTerms("ab ".repeat(textMax)).length).toBe(Math.ceil(textMax / 3))
  })
})

describe("the vocabulary", () => {
  const vocabulary = (words: ReadonlyArray<string>) => {
    const step = vocabularyOf(words, words, Infinity).next()
    if (step.done !== true) throw new Error("it paused")
    return step.value
  }
  const slow = (a: string, b: string): number => {
    const table = Array.from({ length: a.length + 1 }, (_, i) =>
      Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0))
    )
    for (let i = 1; i <= a.length; i += 1) {
      for (let j = 1; j <= b.length; j += 1) {
        const change = a[i - 1] === b[j - 1] ? 0 : 1
        let edits = Math.min(table[i - 1]![j]! + 1, table[i]![j - 1]! + 1, table[i - 1]![j - 1]! + change)
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
          edits = Math.min(edits, table[i - 2]![j - 2]! + 1)
        table[i]![j] = edits
      }
    }
    return table[a.length]![b.length]!
  }
  const word = fc.stringMatching(/^[abcde]{1,10}$/)
  const list = fc.uniqueArray(word, { maxLength: 40 }).map((words) => words.sort())

  test("counts edits like the textbook", () => {
    fc.assert(
      fc.property(word, word, fc.constantFrom(1, 2), (a, b, most) => {
        expect(editsBetween(a, b, most)).toBe(Math.min(slow(a, b), most + 1))
      }),
      { numRuns: 2000 }
    )
  })

  test("finds every near term", () => {
    fc.assert(
      fc.property(list, word, (words, wanted) => {
        const most = wanted.length < 4 ? 0 : wanted.length < 8 ? 1 : 2
        const expected = words.filter((one) => {
          const edits = slow(wanted, one)
          return most > 0 && edits <= (one[0] === wanted[0] ? most : 1)
        })
        const near = nearTerms(vocabulary(words), wanted)
        expect(near.map(({ id }) => words[id]!).sort()).toEqual(expected.sort())
      }),
      { numRuns: 500 }
    )
  })

  test("finds terms and prefixes", () => {
    fc.assert(
      fc.property(list, word, (words, wanted) => {
        const known = vocabulary(words)
        const [start, end] = prefixRange(known, wanted)
        expect(words.slice(start, end)).toEqual(words.filter((one) => one.startsWith(wanted)))
        expect(idOf(known, wanted)).toBe(words.includes(wanted) ? words.indexOf(wanted) : undefined)
      }),
      { numRuns: 500 }
    )
  })
})

describe("a query finds", () => {
  const catalog = () =>
    indexOf([
      capabilityNamed("email.verify", { title: "Verify an email address" }),
      capabilityNamed("email.find", { title: "Find a work email" }),
      capabilityNamed("company.tech", { title: "Technologies of a website" }),
      capabilityNamed("network.profile", { title: "Professional network profile" }),
      capabilityNamed("gov.filings", { title: "Company filings with the SEC" }),
      endpointAt("/v1/twitter/user-tweets", { title: "User tweets" }),
      endpointAt("/v1/tiktok/profile", { title: "TikTok profile" }),
      endpointAt("/backlinks/summary", { title: "Backlinks summary" }),
      endpointAt("/jobs", { title: "Job postings" })
    ])

  test.each([
    ["synonyms of one word", "vacancies", "/jobs"],
    ["synonyms of several words", "inbound links", "/backlinks/summary"],
    ["what several words mean in one", "tech stack", "company.tech"],
    ["what people call it", "x posts", "/v1/twitter/user-tweets"],
    ["words that are only queryOnly for", "bounce check", "email.verify"],
    ["numbers in names", "10-K", "gov.filings"],
    ["numbers in names without a hyphen", "10k", "gov.filings"],
    ["another name of a platform", "linkedin profile", "network.profile"],
    ["unfinished words", "tikt", "/v1/tiktok/profile"],
    ["the start of a long form", "verificat", "email.verify"],
    ["a letter too few", "verfy emal", "email.verify"],
    ["a letter too many", "twitteer", "/v1/twitter/user-tweets"],
    ["swapped letters", "tikotk", "/v1/tiktok/profile"],
    ["two typos in a long word", "tchnolgies", "company.tech"],
    ["a word written as two", "tik tok", "/v1/tiktok/profile"],
    ["two words written as one", "usertweets", "/v1/twitter/user-tweets"],
    ["words among others", "please find me an API that verifies the email addresses of my leads", "email.verify"],
    ["slugs", "email.verify", "email.verify"],
    ["paths", "/v1/tiktok/profile", "/v1/tiktok/profile"]
  ])("%s: %s", async (_, query, slug) => {
    expect(slugsFor(await catalog(), query)[0]).toBe(slug)
  })

  test.each([["unicorns"], ["find me unicorns"], [""], ["   "], ["the of a"], ["?!*"], ["🦄🦄"], ["zzzzzzzzzzzz"]])(
    "nothing for %p",
    async (query) => {
      expect(search(await catalog(), { query, limit: 10 })).toEqual([])
    }
  )

  test("by words of the request only when there are no others", async () => {
    const index = await catalog()
    expect(slugsFor(index, "find")).toEqual(["email.find"])
    expect(slugsFor(index, "find tiktok")).not.toContain("email.find")
  })

  test("without harm from any text", async () => {
    const index = await catalog()
    const odd = [
      "__proto__",
      "constructor",
      "toString hasOwnProperty",
      "(a+)+$ [x] .* \\",
      "email ".repeat(2_000),
      "x".repeat(10_000),
      "\u0000\uD800 \u{1F600}",
      "#email #twitter",
      "' OR 1=1 --",
      "日本語 メール"
    ]
    for (const query of odd) expect(Array.isArray(search(index, { query, limit: 50 }))).toBe(true)
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (query) => {
        for (const { score } of search(index, { query, limit: 50 })) expect(score > 0 && score <= 1).toBe(true)
      })
    )
    expect(slugsFor(index, "tiktok")[0]).toBe("/v1/tiktok/profile")
  })

  test("in an empty catalog, nothing", async () => {
    expect(search(await indexOf([]), { query: "email", limit: 10 })).toEqual([])
  })
})

describe("the synonym file", () => {
  test("names every concept once", () => {
    const names = synonyms.map(({ words }) => words.split(",")[0]?.trim())
    expect(names.length).toBe(new Set(names).size)
  })

  test("has no phrase of which only one word is left when stop words are gone", () => {
    const texts = synonyms.flatMap(({ words, queryOnly = "" }) => [...words.split(","), ...queryOnly.split(",")])
    expect(texts.filter((text) => tokensOf(text).length > 1 && termsOf(text).length < 2)).toEqual([])
  })

  test("counts meanings less than words", () => {
    for (const { weight = 0.6 } of synonyms) expect(weight > 0 && weight < 1).toBe(true)
  })
})
