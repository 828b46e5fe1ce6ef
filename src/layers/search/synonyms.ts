/**
 * The synonyms of the search, maintained by hand. Add a line if people search for something by a word that no document uses.
 *
 * A line is a concept. Its `words` are synonyms in documents and queries. Its `queryOnly` words are synonyms in queries only, because they
 * mean something else in a document. Commas separate synonyms, and each may be several words. The concept is indexed as a term of its own,
 * so a rare synonym counts no more than a common one. The first word names the concept.
 */
export interface Concept {
  readonly words: string
  readonly queryOnly?: string
  /** The weight of a match by synonym, if a match of the word itself weighs 1. The default is `conceptWeight`. */
  readonly weight?: number
}

export const conceptWeight = 0.6

export const synonyms: ReadonlyArray<Concept> = [
  // Platforms
  { words: "twitter, x", queryOnly: "tweet, x.com", weight: 0.7 },
  { words: "tweet, twitter post, user tweets", queryOnly: "x post" },
  { words: "linkedin, professional network, network profile", queryOnly: "li", weight: 0.7 },
  { words: "instagram, insta", queryOnly: "ig, reels", weight: 0.7 },
  { words: "facebook, meta", queryOnly: "fb", weight: 0.7 },
  { words: "youtube, yt", weight: 0.7 },
  { words: "tiktok, tik tok, tt", weight: 0.7 },
  { words: "reddit, subreddit", weight: 0.7 },
  { words: "threads, threads profile", weight: 0.6 },
  { words: "google maps, google places, google my business, gmb, google business profile", queryOnly: "local listing" },
  { words: "amazon, asin", weight: 0.6 },
  { words: "app store, ios app, itunes, apple app", queryOnly: "iphone app" },
  { words: "google play, play store, android app" },
  { words: "social media, social network, social profile", queryOnly: "socials, creator, influencer, platform" },

  // People and contact data
  { words: "email, e mail, mail address, email address", queryOnly: "mail, inbox address" },
  {
    words:
      "email verifier, email verification, verify email, validate email, email validation, verify an email address, check email",
    queryOnly:
      "bounce, bounce check, email checker, deliverable, deliverability, undeliverable, valid email, email valid, mailbox exist, catch all, disposable, clean email list, email hygiene, list cleaning"
  },
  { words: "verify, validate, check", queryOnly: "test, confirm, real", weight: 0.5 },
  {
    words: "email finder, find email, find an email address, work email, business email, professional email",
    queryOnly: "email lookup, email hunter, get email, email search, guess email, corporate email"
  },
  {
    words: "domain search, email addresses of a domain, emails of a domain",
    queryOnly: "all emails, all email addresses, emails at a domain, addresses at a domain, every email"
  },
  {
    words: "phone, mobile, telephone, cell, phone number, mobile number",
    queryOnly: "cellphone, tel, direct dial, msisdn, whatsapp number, dial"
  },
  {
    words: "carrier, line type, caller name, caller id",
    queryOnly: "landline, voip, phone type, reverse phone, who called, phone lookup, phone validation, hlr"
  },
  {
    words: "person, contact, individual, employee",
    queryOnly:
      "lead, prospect, human, decision maker, staff, candidate, colleague, worker, ceo, cto, cfo, vp, vps, director, manager, founder, engineer, developer, executive, recruiter, marketer",
    weight: 0.5
  },
  {
    words: "people search, person search, search people, find people, search persons, find contacts",
    queryOnly:
      "lead list, prospecting, lead generation, leadgen, list people, sourcing, talent search, decision makers, list contacts, list leads, sales director, marketing director, sales manager, marketing manager, vp sales, vps sales, head sales, head marketing"
  },
  {
    words: "enrich, enrichment, append",
    queryOnly: "augment, complete the record, reverse lookup, look up, more about"
  },
  {
    words: "person enrichment, enrich a person, people enrich, match person",
    queryOnly:
      "reverse email lookup, reverse email, email person, who behind, who owns, contact enrichment, lead enrichment, person lookup"
  },
  {
    words: "title, role, position, job title, seniority",
    queryOnly: "ceo, cto, cfo, vp, vps, director, founder, manager, executive",
    weight: 0.4
  },
  { words: "profile, bio", queryOnly: "biography, account", weight: 0.4 },

  // Companies
  {
    words: "company, organization, organisation, business, firm, account",
    queryOnly: "org, startup, corporation, employer, enterprise, brand, vendor",
    weight: 0.6
  },
  {
    words: "company enrichment, enrich a company, firmographic, organization enrichment, company data",
    queryOnly:
      "company profile, company lookup, company info, domain company, headcount, employee count, how many employees, number employees, company size, revenue"
  },
  {
    words: "company search, search companies, organization search, search organizations, find companies",
    queryOnly: "list companies, list startups, account list, target accounts, lookalike companies, market map, tam"
  },
  {
    words: "technologies, technology, tech stack, techstack, technographic, builtwith, wappalyzer",
    queryOnly: "tech, stack, built, software used, cms, what software"
  },
  {
    words: "job, job posting, vacancy, job opening, job listing, open position, opening",
    queryOnly: "hiring, career, recruiting, open role, role open, work offer, employment"
  },
  { words: "funding, investment, investor, funding round", queryOnly: "raised, venture, capital, vc" },
  { words: "competitor, alternative, similar company", queryOnly: "rival, lookalike, competes" },
  { words: "review, rating", queryOnly: "reputation, stars, testimonial, feedback" },

  // Web, search and SEO
  {
    words: "web search, search the web, google search, search engine",
    queryOnly: "internet search, look online, browse, bing, websearch, online search"
  },
  {
    words: "serp, search results, google results, organic results, search engine results",
    queryOnly:
      "google ranking, rank check, rank tracker, position in google, google position, rank tracking, google serp"
  },
  {
    words: "scrape, crawl, extract, content parsing, page content, scraping, read a page",
    queryOnly:
      "fetch page, fetch url, fetch a page, get html, html, markdown, download page, website content, page text, parse a page, web page, website text, read url, readable"
  },
  { words: "keyword, search term, keywords", queryOnly: "kw, query volume", weight: 0.6 },
  {
    words: "search volume, keyword volume, monthly searches, keyword ideas, keyword suggestions, keyword research",
    queryOnly: "cpc, keyword difficulty, keyword volumes, how often searched, search demand"
  },
  {
    words: "backlink, inbound link, referring domain, incoming link",
    queryOnly: "link building, who links, linking sites, link profile, domain authority, anchor text, external link"
  },
  {
    words: "ranked keywords, domain overview, domain rank, organic traffic, website traffic",
    queryOnly:
      "seo overview, domain seo, organic keywords, site traffic, visits, visitors, similarweb, rankings, domain analytics, seo metrics"
  },
  {
    words: "news, article, press, headline",
    queryOnly: "media coverage, mention, latest, newspaper, coverage, announcements",
    weight: 0.6
  },
  {
    words: "places, local business, maps, local results",
    queryOnly:
      "nearby, near, local, restaurant, shop, store, dentist, plumber, hotel, gym, salon, cafe, lawyer, clinic, opening hours",
    weight: 0.9
  },
  { words: "trends, trending, popular", queryOnly: "viral, interest over time", weight: 0.5 },
  { words: "website, site, web page, webpage, url", queryOnly: "homepage, web, link", weight: 0.4 },
  {
    words: "sitemap, site map, list urls, map a website",
    queryOnly: "all urls, every url, all pages, every page, site urls, discover urls"
  },
  { words: "answer, question answering", queryOnly: "ask, question, research", weight: 0.5 },

  { words: "batch, bulk, multiple", queryOnly: "many in one, several at once, mass, list upload", weight: 0.5 },

  // Social and ads
  {
    words: "ad, ad library, advertiser, creative",
    queryOnly:
      "ads library, competitor ads, running ads, sponsored, campaign, ppc, paid search, promoted, facebook ads library"
  },
  {
    words: "post, video, feed, timeline, content",
    queryOnly: "reel, short, upload, status update, story",
    weight: 0.4
  },
  { words: "follower, subscriber, audience", queryOnly: "fans, follower count, reach, following", weight: 0.5 },
  { words: "comment, reply", queryOnly: "discussion, responses", weight: 0.5 },
  { words: "transcript, caption, subtitle", queryOnly: "transcribe, speech to text, spoken words" },
  { words: "like, reaction, engagement", queryOnly: "interactions, favorites", weight: 0.4 },
  { words: "hashtag, tag", queryOnly: "topic", weight: 0.4 },

  // Professional network and outreach
  {
    words: "invite, invitation, connection request, connect profile",
    queryOnly: "connect, add connection, send connection, network request"
  },
  {
    words: "message, inmail, direct message, chat",
    queryOnly: "dm, private message, reach out, outreach, pm"
  },
  {
    words: "send email, send an email, transactional email, deliver an email, email send, send a single email",
    queryOnly:
      "mail out, cold email, email campaign, outbound email, smtp, write an email, email someone, newsletter, send mail, notify"
  },
  { words: "inbox, mailbox", queryOnly: "email account, receiving address, mail account", weight: 0.6 },
  {
    words: "received messages, read mail, messages of an inbox, inbox messages",
    queryOnly: "read email, incoming email, replies, inbound email, check my mail, unread, new mail, received email"
  },
  { words: "create, register", queryOnly: "make, buy, purchase, open, set up, order", weight: 0.4 },

  // Domains
  {
    words: "domain availability, whois, domain check, domain name, check a domain, available domain",
    queryOnly: "domain free, domain taken, domain price, domain for sale, name available"
  },
  {
    words: "domain registration, register a domain, domain register",
    queryOnly: "buy a domain, buy domain, purchase domain, get a domain, order domain, new domain"
  },

  // Creative
  {
    words: "image, picture, photo, illustration",
    queryOnly: "drawing, artwork, logo, graphic, art, portrait, wallpaper, banner"
  },
  {
    words: "text to image, image generation, generate an image, generate image",
    queryOnly:
      "ai art, draw, stable diffusion, flux, dall e, midjourney, create a picture, make an image, create image, paint"
  },
  {
    words: "video generation, generate a video, text to video, image to video",
    queryOnly: "make a video, create video, animate, animation, clip, sora, veo, runway, make a clip, film"
  },

  // Government data
  {
    words: "filings, sec, edgar, 10 k, 10 q, 8 k, securities and exchange commission",
    queryOnly:
      "10k, 10q, 8k, annual report, quarterly report, prospectus, proxy statement, insider trading, sec filing, public company report"
  },
  {
    words: "federal spending, award, contract, grant, government contract, usaspending",
    queryOnly:
      "procurement, government money, federal award, government spending, tender, subsidy, loans, public spending, federal contractor"
  },
  {
    words: "uei, duns, cik, recipient, government entity, federal entity",
    queryOnly: "legal entity, entity lookup, government vendor, sam.gov, contractor id, ticker"
  },
  {
    words: "xbrl, company facts, financial statement",
    queryOnly: "balance sheet, income statement, financials, earnings"
  }
]
