/**
 * Where the shipped actors come from, and what they do in this project's own words.
 *
 * Only Apify's own actors have a licence that allows their texts. Of the others the package has names, types and ranges.
 */
import type { Provenance } from "../../../../schema/Provenance.ts"

export const actorProvenance: ReadonlyArray<Provenance> = [
  {
    source: "https://github.com/apify/actor-scraper/tree/33729f14fc33",
    licence: "Apache-2.0",
    read: "2026-11-22",
    takes: "texts",
    endpoints: ["POST apify/*"]
  },
  {
    source: "https://github.com/HarvestAPI",
    licence: "unstated",
    read: "2026-11-22",
    takes: "facts",
    endpoints: ["POST harvestapi/*"]
  },
  {
    source: "https://github.com/userlip/scrappa-apify-actors/tree/8297905c7ad8",
    licence: "unstated",
    read: "2026-11-22",
    takes: "facts",
    endpoints: ["POST thescrappa/*"]
  }
]

export const actorDescriptions: Readonly<Record<string, string>> = {
  "apify/web-scraper": "Crawls websites with a real browser and runs your JavaScript function on every page.",
  "apify/cheerio-scraper":
    "Crawls websites with plain HTTP requests, fast, and runs your function on the parsed HTML of every page.",
  "apify/puppeteer-scraper": "Crawls websites with a headless Chrome that your Puppeteer function controls.",
  "apify/playwright-scraper": "Crawls websites with a browser that your Playwright function controls.",
  "apify/jsdom-scraper":
    "Crawls websites with plain HTTP requests and runs your function on every page with a simulated DOM.",
  "apify/camoufox-scraper":
    "Crawls websites that refuse robots, with a stealthy browser that your Playwright function controls.",
  "apify/sitemap-scraper": "Lists all addresses that the sitemaps of a website name.",
  "harvestapi/linkedin-company": "LinkedIn company pages by address or name, in bulk: industry, size, place, website.",
  "harvestapi/linkedin-job-search":
    "Searches job postings on LinkedIn by title, place, company, seniority and salary, with their details.",
  "harvestapi/linkedin-profile-search":
    "Searches people on LinkedIn by title, place, employer and school, with their full profiles and, on request, e-mail addresses.",
  "thescrappa/domain-availability-checker": "Checks which domain names are free to register, many at once.",
  "thescrappa/google-jobs-scraper": "Searches job postings on Google Jobs, with title, company, place and description.",
  "thescrappa/google-maps-reviews-scraper":
    "Reviews of a place on Google Maps, with rating, text, author, date and the owner's reply.",
  "thescrappa/google-maps-search-scraper":
    "Searches local businesses on Google Maps, with address, phone, website, rating and hours.",
  "thescrappa/google-news-scraper":
    "Searches Google News by keyword, topic or publication, with title, source and date.",
  "thescrappa/google-search":
    "Searches Google by country and language: organic results, knowledge panel, related questions and searches.",
  "thescrappa/google-trends-interest-scraper": "Google Trends: the interest in search terms over time, from 0 to 100.",
  "thescrappa/indeed-jobs-scraper": "Searches job postings on Indeed, with company, place, salary and description.",
  "thescrappa/instagram-user-info-cheapest-0-20-1000-results":
    "An Instagram profile by username: biography, followers, verification and picture.",
  "thescrappa/instagram-user-posts-cheapest-0-20-1000-results": "Recent posts and reels of an Instagram profile.",
  "thescrappa/linkedin-company-scraper":
    "Public LinkedIn company pages: staff, posts, funding, places and specialties.",
  "thescrappa/linkedin-jobs-search-scraper":
    "Searches public job postings on LinkedIn, with title, address and snippet.",
  "thescrappa/linkedin-profile-scraper": "Public LinkedIn profiles: experience, education, skills and articles.",
  "thescrappa/linkedin-search-scraper": "Searches public LinkedIn pages: profiles, companies, posts and jobs.",
  "thescrappa/similarweb-traffic-analytics-scraper":
    "Traffic of websites by Similarweb: visits, rank, sources, countries and top keywords.",
  "thescrappa/tiktok-ads-scraper":
    "Advertisements of TikTok's Creative Center: advertiser, text, media, landing page and engagement.",
  "thescrappa/tiktok-profile-scraper": "A TikTok profile: followers, biography, picture, verification and region.",
  "thescrappa/tiktok-user-posts-scraper":
    "The videos that a TikTok user posted, with captions, views, likes and dates.",
  "thescrappa/trustpilot-company-reviews-scraper":
    "Trustpilot reviews of a company, with rating, text, author, date and the company's reply.",
  "thescrappa/website-content-extractor-scraper":
    "Extracts title, text, links, e-mail addresses, images and metadata of pages, as JSON or markdown.",
  "thescrappa/youtube-api-search-data":
    "Searches YouTube for videos, channels and playlists, by length, date and features.",
  "thescrappa/youtube-transcript-scraper": "The transcript of a YouTube video, as text and in segments."
}
