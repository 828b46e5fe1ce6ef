/**
 * One subject in its many forms, and subjects that only look alike. Every form beside its normalized one is a pair.
 */
import type { SubjectKind } from "../../src/schema/subjects/Subject.ts"

export interface Forms {
  readonly kind: SubjectKind
  readonly normalized: string
  /** Each is detected as this kind, and normalized to this. */
  readonly detected: ReadonlyArray<string>
  /** Each reads so when the kind is forced. */
  readonly forced?: ReadonlyArray<string>
}

export const same: ReadonlyArray<Forms> = [
  {
    kind: "email",
    normalized: "ada@example.com",
    detected: [
      "ada@example.com",
      "ADA@EXAMPLE.COM",
      "Ada@Example.Com",
      " ada@example.com\n",
      "mailto:ada@example.com",
      "MAILTO:Ada@Example.com",
      "mailto:ada@example.com?subject=Hello%20there&body=x",
      "mailto:ada%40example.com",
      "<ada@example.com>",
      '"ada@example.com"',
      "'ada@example.com'",
      "(ada@example.com)",
      "“ada@example.com”",
      "Ada <ada@example.com>",
      "Ada Lovelace <ADA@example.com>",
      '"Lovelace, Ada" <ada@example.com>',
      "<mailto:ada@example.com>",
      "ada@example.com.",
      "ada@example.com,",
      "ada@example.com;",
      "ada@www.example.com",
      "a\u200Bda@example.com",
      "\uFEFFada@example.com",
      "\u202Aada@example.com\u202C",
      "ada＠example．com",
      "ａｄａ@example.com",
      '"ada"@example.com'
    ]
  },
  {
    kind: "email",
    normalized: "ada@xn--mnchen-3ya.de",
    detected: ["ada@münchen.de", "ada@MÜNCHEN.de", "ADA@xn--mnchen-3ya.de", "ada@mu\u0308nchen.de"]
  },
  { kind: "email", normalized: "ada+news@example.com", detected: ["ada+news@example.com", "Ada+News@example.com"] },
  { kind: "email", normalized: "o'brien@example.co.uk", detected: ["o'brien@example.co.uk", "O'Brien@Example.co.uk"] },
  {
    kind: "email",
    normalized: "jürgen@example.com",
    detected: ["jürgen@example.com", "JÜRGEN@example.com", "ju\u0308rgen@example.com"]
  },
  { kind: "email", normalized: "sales@site-1.example", detected: ["sales@site-1.example", "Sales@SITE-1.example"] },
  {
    kind: "email",
    normalized: "root@mail.acme.corp",
    detected: ["root@mail.acme.corp"],
    forced: ["Root@mail.acme.corp"]
  },
  { kind: "email", normalized: "ada@node.js", detected: [], forced: ["ada@node.js"] },
  {
    kind: "domain",
    normalized: "example.com",
    detected: [
      "example.com",
      "EXAMPLE.COM",
      "Example.Com",
      "example.com.",
      "www.example.com",
      "WWW.Example.com.",
      "www.www.example.com",
      "http://example.com",
      "https://example.com",
      "https://example.com/",
      "https://www.example.com/",
      "HTTPS://WWW.EXAMPLE.COM/",
      "//example.com",
      "http://example.com:80",
      "https://example.com:443/",
      "http://example.com:443/",
      "example.com:443",
      "example.com:8080",
      "example.com/",
      "example.com//",
      "https://example.com/?utm_source=x&gclid=1",
      "https://example.com/#top",
      "https://user:secret@example.com/",
      "<https://example.com>",
      '"example.com"',
      "example.com,",
      " example.com ",
      "exam\u00ADple.com",
      "ｅｘａｍｐｌｅ.com",
      "example。com"
    ],
    forced: [
      "ada@example.com",
      "Ada <ada@example.com>",
      "mailto:ada@example.com",
      "https://example.com/pricing?a=1",
      "example.com/about",
      "*.example.com",
      "@example.com",
      "https://example.com:8080/"
    ]
  },
  {
    kind: "domain",
    normalized: "xn--mnchen-3ya.de",
    detected: [
      "münchen.de",
      "MÜNCHEN.DE",
      "xn--mnchen-3ya.de",
      "XN--MNCHEN-3YA.DE",
      "https://www.münchen.de/",
      "mu\u0308nchen.de",
      "http://m%C3%BCnchen.de/"
    ]
  },
  { kind: "domain", normalized: "xn--e1afmkfd.xn--p1ai", detected: ["пример.рф", "ПРИМЕР.РФ", "https://пример.рф"] },
  {
    kind: "domain",
    normalized: "example.co.uk",
    detected: ["example.co.uk", "www.example.co.uk", "https://EXAMPLE.co.uk/"]
  },
  {
    kind: "domain",
    normalized: "mail.example.com",
    detected: ["mail.example.com", "https://mail.example.com", "Mail.Example.com."]
  },
  { kind: "domain", normalized: "ada.github.io", detected: ["ada.github.io", "https://ada.github.io/"] },
  { kind: "domain", normalized: "www.com", detected: ["www.com", "http://www.com/"] },
  { kind: "domain", normalized: "allegro.pl", detected: ["allegro.pl", "https://allegro.pl"] },
  { kind: "domain", normalized: "notion.so", detected: ["notion.so", "www.notion.so"] },
  {
    kind: "domain",
    normalized: "docs.rs",
    detected: ["https://docs.rs", "www.docs.rs"],
    forced: ["docs.rs", "DOCS.RS"]
  },
  { kind: "domain", normalized: "node.js", detected: [], forced: ["node.js", "Node.js"] },
  { kind: "domain", normalized: "readme.md", detected: ["https://readme.md/"], forced: ["README.md"] },
  { kind: "domain", normalized: "acme.corp", detected: ["acme.corp", "http://acme.corp/"] },
  {
    kind: "network",
    normalized: "in/ada-lovelace",
    detected: [
      "https://www.linkedin.com/in/ada-lovelace",
      "https://www.linkedin.com/in/ada-lovelace/",
      "http://linkedin.com/in/ada-lovelace",
      "linkedin.com/in/ada-lovelace",
      "www.linkedin.com/in/ada-lovelace",
      "//linkedin.com/in/ada-lovelace",
      "https://de.linkedin.com/in/ada-lovelace",
      "https://uk.linkedin.com/in/ada-lovelace/",
      "https://m.linkedin.com/in/ada-lovelace",
      "https://mobile.linkedin.com/in/ada-lovelace",
      "https://www.linkedin.com/mwlite/in/ada-lovelace",
      "https://www.linkedin.com/in/ada-lovelace/en",
      "https://www.linkedin.com/in/ada-lovelace/de-de",
      "https://www.linkedin.com/in/ada-lovelace?originalSubdomain=de",
      "https://www.linkedin.com/in/ada-lovelace/?trk=people-guest&lipi=urn",
      "https://www.linkedin.com/in/ada-lovelace#experience",
      "https://www.linkedin.com/in/ada-lovelace/details/experience/",
      "https://www.linkedin.com/in/ada-lovelace/recent-activity/all/",
      "https://www.linkedin.com/in/ada-lovelace/overlay/contact-info/",
      "https://www.linkedin.com/in/ADA-Lovelace",
      "HTTPS://WWW.LINKEDIN.COM/IN/ADA-LOVELACE/",
      "https://www.linkedin.com//in//ada-lovelace",
      "https://www.linkedin.com/in/ada%2Dlovelace",
      "https://www.linkedin.com/in/ada%252Dlovelace",
      "https://www.linkedin.com/pub/ada-lovelace",
      "https://www.linkedin.com:443/in/ada-lovelace",
      "<https://www.linkedin.com/in/ada-lovelace>",
      "https://www.linkedin.com/in/ada-lovelace,",
      "linkedin.com/in/ada-\u200Blovelace"
    ],
    forced: ["ada-lovelace", "Ada-Lovelace", "in/ada-lovelace", "/in/ada-lovelace/", "pub/ada-lovelace"]
  },
  {
    kind: "network",
    normalized: "in/krzysztof-marzec-b50576a7",
    detected: [
      "https://sy.linkedin.com/pub/krzysztof-marzec/a7/576/b50?trk=biz_employee_pub",
      "https://www.linkedin.com/pub/krzysztof-marzec/A7/576/B50",
      "linkedin.com/in/krzysztof-marzec-b50576a7"
    ],
    forced: ["pub/krzysztof-marzec/a7/576/b50"]
  },
  {
    kind: "network",
    normalized: "in/ada-lovelace-0050341",
    detected: ["linkedin.com/pub/ada-lovelace/1/34/5", "linkedin.com/in/ada-lovelace-0050341"]
  },
  {
    kind: "network",
    normalized: "in/josé-müller",
    detected: [
      "https://www.linkedin.com/in/josé-müller",
      "https://www.linkedin.com/in/jos%C3%A9-m%C3%BCller/",
      "https://www.linkedin.com/in/jos%c3%a9-m%c3%bcller",
      "https://www.linkedin.com/in/jos%25C3%25A9-m%25C3%25BCller",
      "https://es.linkedin.com/in/jose\u0301-mu\u0308ller",
      "https://es.linkedin.com/in/jose%CC%81-mu%CC%88ller",
      "https://www.linkedin.com/in/JOSÉ-MÜLLER"
    ],
    forced: ["josé-müller", "jos%C3%A9-m%C3%BCller"]
  },
  {
    kind: "network",
    normalized: "in/李明",
    detected: ["https://cn.linkedin.com/in/李明", "https://www.linkedin.com/in/%E6%9D%8E%E6%98%8E"]
  },
  {
    kind: "network",
    normalized: "company/acme",
    detected: [
      "https://www.linkedin.com/company/acme",
      "https://www.linkedin.com/company/acme/",
      "linkedin.com/company/Acme/about/",
      "https://de.linkedin.com/company/acme?trk=x",
      "https://www.linkedin.com/company/acme/jobs",
      "https://www.linkedin.com/school/acme/",
      "https://www.linkedin.com/showcase/acme"
    ],
    forced: ["company/acme", "school/acme"]
  },
  {
    kind: "url",
    normalized: "example.com/pricing",
    detected: [
      "https://example.com/pricing",
      "http://example.com/pricing",
      "https://www.example.com/pricing/",
      "example.com/pricing",
      "EXAMPLE.com/pricing",
      "//example.com/pricing",
      "http://example.com:80/pricing",
      "https://example.com:443/pricing",
      "https://example.com/pricing//",
      "https://example.com/pricing#plans",
      "https://example.com/pricing?",
      "https://example.com/pricing?utm_source=a&utm_medium=b&UTM_Campaign=c",
      "https://example.com/pricing?gclid=1&fbclid=2&msclkid=3&mc_cid=4",
      "https://example.com/pricing?ref=producthunt",
      "https://example.com/./pricing",
      "https://example.com/a/../pricing",
      "https://example.com/a/%2e%2e/pricing",
      "https://example.com/%70ricing",
      "https://example.com./pricing",
      "https://ada:secret@example.com/pricing",
      "https://example.com\\pricing",
      "(https://example.com/pricing)",
      '"https://example.com/pricing"',
      "https://example.com/pricing."
    ]
  },
  {
    kind: "url",
    normalized: "example.com/s?a=1&b=2",
    detected: [
      "https://example.com/s?a=1&b=2",
      "https://example.com/s?b=2&a=1",
      "https://example.com/s/?b=2&&a=1&",
      "https://example.com/s?b=2&gclid=x&a=1",
      "example.com/s?a=%31&b=2#results"
    ]
  },
  {
    kind: "url",
    normalized: "example.com/s?q=a%20b",
    detected: ["https://example.com/s?q=a+b", "https://example.com/s?q=a%20b"]
  },
  { kind: "url", normalized: "example.com/s?q", detected: ["https://example.com/s?q", "https://example.com/s?q="] },
  {
    kind: "url",
    normalized: "example.com/%C3%BCber",
    detected: ["https://example.com/über", "https://example.com/%c3%bcber", "https://example.com/%C3%BCber/"]
  },
  {
    kind: "url",
    normalized: "example.com/~ada/a%2Fb",
    detected: ["https://example.com/%7Eada/a%2Fb", "https://example.com/~ada/a%2fb"]
  },
  {
    kind: "url",
    normalized: "example.com/100%25",
    detected: ["https://example.com/100%", "https://example.com/100%25"]
  },
  {
    kind: "url",
    normalized: "app.example.com#!/runs/1",
    detected: ["https://app.example.com/#!/runs/1", "http://app.example.com#!/runs/1"]
  },
  { kind: "url", normalized: "app.example.com#/runs/1", detected: ["https://app.example.com/#/runs/1"] },
  {
    kind: "url",
    normalized: "en.wikipedia.org/wiki/Ada_(name)",
    detected: ["https://en.wikipedia.org/wiki/Ada_(name)", "en.wikipedia.org/wiki/Ada_%28name%29"]
  },
  {
    kind: "url",
    normalized: "example.com:8443",
    detected: ["https://example.com:8443/", "http://example.com:8443"],
    forced: ["example.com:8443"]
  },
  {
    kind: "url",
    normalized: "127.0.0.1",
    detected: ["http://127.0.0.1/", "127.0.0.1", "http://0x7f.1/", "http://2130706433/"]
  },
  {
    kind: "url",
    normalized: "[2001:db8::1]/a",
    detected: ["http://[2001:db8::1]/a", "https://[2001:0DB8:0::0001]:443/a/"]
  },
  { kind: "url", normalized: "localhost:3000/a", detected: ["http://localhost:3000/a", "localhost:3000/a"] },
  { kind: "url", normalized: "http://intranet/wiki", detected: ["http://intranet/wiki", "https://intranet/wiki/"] },
  { kind: "url", normalized: "docs.rs/effect", detected: ["docs.rs/effect", "https://docs.rs/effect/"] },
  {
    kind: "url",
    normalized: "github.com/ada/engine/tree/x?ref=dev",
    detected: ["https://github.com/ada/engine/tree/x?ref=dev&utm_source=a"]
  },
  {
    kind: "url",
    normalized: "youtube.com/channel/UCxcTeAKWJca6XyJ37_ZoKIQ",
    detected: [
      "https://www.youtube.com/channel/UCxcTeAKWJca6XyJ37_ZoKIQ",
      "youtube.com/channel/UCxcTeAKWJca6XyJ37_ZoKIQ/"
    ]
  },
  {
    kind: "url",
    normalized: "youtube.com/watch?v=abc",
    detected: ["https://www.youtube.com/watch?v=abc", "https://youtube.com/watch?v=abc&utm_source=x"]
  },
  {
    kind: "url",
    normalized: "example.com",
    detected: [],
    forced: ["https://example.com/", "example.com", "http://www.example.com"]
  },
  { kind: "url", normalized: "linkedin.com/in/ada", detected: [], forced: ["https://www.linkedin.com/in/ada/"] },
  {
    kind: "handle",
    normalized: "x/ada",
    detected: [
      "https://x.com/ada",
      "https://twitter.com/ada",
      "http://www.twitter.com/Ada/",
      "twitter.com/ADA",
      "https://mobile.twitter.com/ada",
      "https://x.com/ada?s=20&t=abc",
      "https://x.com/@ada",
      "https://x.com/ada/followers",
      "https://twitter.com/#!/ada",
      "https://x.com/ada/with_replies"
    ],
    forced: ["x/ada", "twitter/ada", "Twitter/@Ada"]
  },
  {
    kind: "handle",
    normalized: "instagram/ada.l",
    detected: [
      "https://www.instagram.com/ada.l/",
      "instagram.com/Ada.L?igshid=1",
      "https://instagram.com/ada.l/reels/",
      "https://www.instagram.com/_u/ada.l"
    ],
    forced: ["instagram/ada.l", "ig/ada.l"]
  },
  {
    kind: "handle",
    normalized: "tiktok/ada",
    detected: ["https://www.tiktok.com/@ada", "tiktok.com/@Ada?lang=de", "https://m.tiktok.com/@ada/"]
  },
  {
    kind: "handle",
    normalized: "youtube/ada",
    detected: [
      "https://www.youtube.com/@ada",
      "https://youtube.com/c/Ada",
      "https://www.youtube.com/user/ada/videos",
      "m.youtube.com/@Ada/about",
      "https://music.youtube.com/@ada"
    ]
  },
  {
    kind: "handle",
    normalized: "github/ada",
    detected: [
      "https://github.com/ada",
      "github.com/Ada/",
      "https://github.com/ada?tab=repositories",
      "https://gist.github.com/ada",
      "https://github.com/orgs/ada"
    ]
  },
  {
    kind: "handle",
    normalized: "facebook/ada.lovelace",
    detected: [
      "https://www.facebook.com/ada.lovelace",
      "https://m.facebook.com/Ada.Lovelace/",
      "https://de-de.facebook.com/ada.lovelace/about",
      "fb.com/ada.lovelace",
      "https://www.facebook.com/pg/ada.lovelace/posts"
    ]
  },
  {
    kind: "handle",
    normalized: "facebook/100012345678901",
    detected: [
      "https://www.facebook.com/profile.php?id=100012345678901",
      "https://www.facebook.com/people/Ada-Lovelace/100012345678901/",
      "facebook.com/100012345678901"
    ]
  },
  { kind: "handle", normalized: "threads/ada", detected: ["https://www.threads.net/@ada", "threads.com/@Ada/replies"] },
  {
    kind: "handle",
    normalized: "bluesky/ada.bsky.social",
    detected: [
      "https://bsky.app/profile/ada.bsky.social",
      "@ada.bsky.social",
      "bsky.app/profile/Ada.bsky.social/followers"
    ],
    forced: ["bluesky/ada", "bsky/ada.bsky.social", "ada.bsky.social"]
  },
  {
    kind: "handle",
    normalized: "reddit/ada_l",
    detected: [
      "https://www.reddit.com/user/ada_l",
      "https://old.reddit.com/u/Ada_L/",
      "u/ada_l",
      "/u/Ada_L",
      "reddit.com/user/ada_l/submitted"
    ]
  },
  {
    kind: "handle",
    normalized: "pinterest/ada",
    detected: [
      "https://www.pinterest.com/ada/",
      "https://de.pinterest.com/ada",
      "https://www.pinterest.co.uk/Ada/_saved"
    ]
  },
  { kind: "handle", normalized: "twitch/ada", detected: ["https://www.twitch.tv/ada", "m.twitch.tv/Ada/about"] },
  {
    kind: "handle",
    normalized: "telegram/ada",
    detected: ["https://t.me/ada", "t.me/s/ada", "https://telegram.me/Ada"]
  },
  { kind: "handle", normalized: "medium/ada", detected: ["https://medium.com/@ada", "medium.com/@Ada/about"] },
  {
    kind: "handle",
    normalized: "ada",
    detected: ["@ada", "@ADA", " @Ada ", "@ada.", "(@ada)", "＠ada"],
    forced: ["ada", "Ada", "@ada"]
  },
  {
    kind: "phone",
    normalized: "+12025550143",
    detected: [
      "+12025550143",
      "+1 202 555 0143",
      "+1 (202) 555-0143",
      "+1-202-555-0143",
      "+1.202.555.0143",
      "(+1) 202 555 0143",
      "tel:+12025550143",
      "TEL:+1-202-555-0143",
      "tel:+1-202-555-0143;ext=12",
      "+1 202 555 0143 ext. 5",
      "+1 202 555 0143 x5",
      "+1 202 555 0143 #5",
      "＋１２０２５５５０１４３",
      "+1\u00A0202\u00A0555\u00A00143",
      "\u202A+1 202-555-0143\u202C",
      "+1 202‑555‑0143",
      "001 202 555 0143",
      "0012025550143",
      "https://wa.me/12025550143",
      "https://api.whatsapp.com/send?phone=12025550143&text=hi"
    ],
    forced: ["+1 202 555 0143", "0012025550143"]
  },
  {
    kind: "phone",
    normalized: "+49301234567",
    detected: ["+49 30 1234567", "+49 (0)30 1234567", "0049 30 1234567", "+49 (0) 30 / 123 45 67"]
  },
  {
    kind: "phone",
    normalized: "+442079460958",
    detected: ["+44 20 7946 0958", "+44 (0)20 7946 0958", "00 44 20 7946 0958"]
  },
  { kind: "phone", normalized: "+15551234567", detected: ["+1 555 123 4567", "+15551234567"] },
  {
    kind: "text",
    normalized: "ada lovelace",
    detected: [
      "Ada Lovelace",
      "ada lovelace",
      "ADA  LOVELACE",
      " Ada\tLovelace\n",
      '"Ada Lovelace"',
      "“Ada Lovelace”",
      "Ada\u00A0Lovelace",
      "Ａｄａ Lovelace",
      "Ada\u200B Lovelace"
    ]
  },
  { kind: "text", normalized: "strasse", detected: ["Straße", "STRASSE", "strasse"] },
  { kind: "text", normalized: "café", detected: ["Café", "cafe\u0301", "CAFÉ"] },
  { kind: "text", normalized: "report.pdf", detected: ["report.pdf", "Report.PDF"] },
  { kind: "text", normalized: "node.js", detected: ["Node.js"] },
  { kind: "text", normalized: "readme.md", detected: ["README.md"] },
  { kind: "text", normalized: "main.rs", detected: ["main.rs"] },
  { kind: "text", normalized: "install.sh", detected: ["install.sh"] },
  { kind: "text", normalized: "archive.zip", detected: ["archive.zip"] },
  { kind: "text", normalized: "libssl.so", detected: ["libssl.so"] },
  { kind: "text", normalized: "icon@2x.png", detected: ["icon@2x.png"] },
  { kind: "text", normalized: "co.uk", detected: ["co.uk"] },
  { kind: "text", normalized: "20251121", detected: ["20251121"] },
  { kind: "text", normalized: "2025550143", detected: ["2025550143"] },
  { kind: "text", normalized: "1700000000000", detected: ["1700000000000"] },
  { kind: "text", normalized: "19.99", detected: ["19.99"] },
  { kind: "text", normalized: "2025-11-21t10:00:00z", detected: ["2025-11-21T10:00:00Z"] },
  { kind: "text", normalized: "1.2.3", detected: ["1.2.3"] },
  { kind: "text", normalized: "and/or", detected: ["and/or"] },
  { kind: "text", normalized: "ada@", detected: ["ada@"] },
  { kind: "text", normalized: "user@host", detected: ["user@host"] },
  { kind: "text", normalized: "ftp://example.com/a", detected: ["ftp://example.com/a"] },
  { kind: "text", normalized: "javascript:alert(1)", detected: ["javascript:alert(1)"] }
]

/** A value indexed as the first must not be found by a question for the second, nor the other way round. */
export const different: ReadonlyArray<readonly [string, string]> = [
  ["ada@example.com", "ada+news@example.com"],
  ["ada@example.com", "a.da@example.com"],
  ["ada@example.com", "ada@example.org"],
  ["ada@example.com", "ada@mail.example.com"],
  ["ada@münchen.de", "ada@munchen.de"],
  ["example.com", "example.org"],
  ["example.com", "example.com.br"],
  ["example.com", "notexample.com"],
  ["example.com", "example-com.com"],
  ["example.co.uk", "other.co.uk"],
  ["mail.example.com", "smtp.example.com"],
  ["mail.example.com", "mail.example.org"],
  ["münchen.de", "munchen.de"],
  ["linkedin.com/in/ada", "linkedin.com/company/ada"],
  ["linkedin.com/in/ada", "linkedin.com/in/ada-1"],
  ["linkedin.com/in/ada", "linkedin.com/in/adá"],
  ["linkedin.com/in/ada-lovelace", "linkedin.com/pub/ada-lovelace/a7/576/b50"],
  ["linkedin.com/pub/ada/1/23/456", "linkedin.com/pub/ada/12/3/456"],
  ["linkedin.com/in/ada", "x.com/ada"],
  ["linkedin.com/in/ada", "@ada"],
  ["https://linkedin.com/posts/ada", "linkedin.com/in/ada"],
  ["https://notlinkedin.com/in/ada", "https://linkedin.com/in/ada"],
  ["https://linkedin.com.evil.example/in/ada", "https://linkedin.com/in/ada"],
  ["https://example.com/?u=linkedin.com/in/ada", "linkedin.com/in/ada"],
  ["https://example.com/a", "https://example.com/A"],
  ["https://example.com/a", "https://example.com/a/b"],
  ["https://example.com/a?b=1", "https://example.com/a?b=2"],
  ["https://example.com/a?b=1", "https://example.com/a"],
  ["https://example.com/a?b=1&b=2", "https://example.com/a?b=2&b=1"],
  ["https://example.com/a%2Fb", "https://example.com/a/b"],
  ["https://example.com/#!/a", "https://example.com/#!/b"],
  ["https://example.com:8080/a", "https://example.com/a"],
  ["https://a.example.com/x", "https://b.example.com/x"],
  ["https://github.com/a/b?ref=x", "https://github.com/a/b?ref=y"],
  ["https://youtube.com/watch?v=abc", "https://youtube.com/watch?v=abC"],
  ["https://youtube.com/channel/UCabcdef", "https://youtube.com/channel/UCABCDEF"],
  ["127.0.0.1", "127.0.0.2"],
  ["x.com/ada", "instagram.com/ada"],
  ["x.com/ada", "x.com/ada_"],
  ["https://x.com/home", "@home"],
  ["https://x.com/i/flow/login", "@i"],
  ["https://www.instagram.com/p/ada/", "@p"],
  ["https://www.instagram.com/p/ada/", "@ada"],
  ["https://docs.github.com/en", "@en"],
  ["https://www.reddit.com/r/ada", "u/ada"],
  ["https://www.facebook.com/groups/ada", "facebook.com/ada"],
  ["https://t.me/joinchat/ada", "t.me/ada"],
  ["@ada", "@ada1"],
  ["@ada", "ada@example.com"],
  ["+12025550143", "+12025550144"],
  ["+12025550143", "+442025550143"],
  ["+49301234567", "+493012345678"]
]
