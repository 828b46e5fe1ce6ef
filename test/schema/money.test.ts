import { describe, expect, test } from "bun:test"
import { Exit, Schema } from "effect"
import { howMany } from "../kit/input-samples.ts"
import * as Decimal from "../../src/schema/money/Decimal.ts"
import * as Money from "../../src/schema/money/Money.ts"

const decode = Schema.decodeUnknownExit(Money.Usd)
const decodeSigned = Schema.decodeUnknownExit(Money.SignedUsd)
const read = Schema.decodeUnknownSync(Money.Usd)
const write = Schema.encodeSync(Money.Usd)

/** Xorshift: the same values on every machine and every run. */
const random = (() => {
  let state = 0x9e3779b9
  return (below: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return Math.floor(((state >>> 0) / 2 ** 32) * below)
  }
})()

describe("money.codec", () => {
  test("random amounts survive the way in and the way out", () => {
    const count = howMany(2_000_000, 200_000)
    let wrong = 0
    let wrongInFloat = 0
    for (let index = 0; index < count; index++) {
      // As many small amounts as large ones: the length of each half is random too.
      const whole = random(10 ** random(11))
      const fraction = random(10 ** random(7))
      const micros = BigInt(whole) * 1_000_000n + BigInt(fraction)
      // Written without the code under test: six digits, of which the last four go when they are zeros.
      const digits = String(fraction).padStart(6, "0")
      let length = 6
      while (length > 2 && digits[length - 1] === "0") length--
      const text = `${whole}.${digits.slice(0, length)}`
      if (Money.usd(micros) !== text || Money.dollars(text) !== micros) wrong++
      if (BigInt(Math.trunc(Number(text) * 1e6)) !== micros) wrongInFloat++
    }
    console.log(`money.codec: ${count} amounts, ${wrong} wrong (${wrongInFloat} wrong by way of Number)`)
    expect(wrong).toBe(0)
    // The loop must be able to find something: floating point is where money gets lost.
    expect(wrongInFloat).toBeGreaterThan(0)
  })

  test("the schema agrees with the functions", () => {
    for (let index = 0; index < 20_000; index++) {
      const micros = BigInt(random(2 ** 31)) * BigInt(random(2 ** 20))
      const text = Money.usd(micros)
      expect(read(text)).toBe(Money.dollars(text))
      expect(write(Money.dollars(text))).toBe(text)
    }
  })

  test("amounts are printed with at least 2 and at most 6 decimals", () => {
    const printed = { 0: "0.00", 1: "0.000001", 42: "0.000042", 4200: "0.0042", 100000: "0.10", 1000000: "1.00" }
    for (const [micros, text] of Object.entries(printed)) expect(Money.usd(BigInt(micros))).toBe(text)
    expect(Money.usd(-42n)).toBe("-0.000042")
    expect(Money.usd(-1_500_000n)).toBe("-1.50")
  })

  test("short and long spellings of one amount are one amount", () => {
    for (const text of ["1", "1.0", "1.00", "1.000000"]) expect(Money.dollars(text)).toBe(Money.MicroUsd(1_000_000n))
  })

  test("amounts beyond 2^53 microdollars are exact", () => {
    expect(Money.dollars("9007199254.740993")).toBe(Money.MicroUsd(9_007_199_254_740_993n))
    expect(Money.dollars("9999999999.999999")).toBe(Money.MicroUsd(9_999_999_999_999_999n))
  })

  const hostile = [
    ...[
      "",
      " ",
      " 1",
      "1 ",
      "1\n",
      "\t1",
      "1\u0000",
      "0x10",
      "0b1",
      "0o7",
      "1e3",
      "1E3",
      "1e-3",
      "1_000",
      "1,000",
      "1,5"
    ],
    ...[".5", "5.", ".", "-", "+1", "--1", "-1", "-0", "01", "00", "00.1", "1.0000001", "1.1.1", "$1", "1 USD", "1n"],
    ...[
      "Infinity",
      "-Infinity",
      "NaN",
      "null",
      "undefined",
      "true",
      "١٢",
      "1٫5",
      "１",
      "Ⅷ",
      "½",
      "1．5",
      "−1",
      "1\u200b"
    ],
    ...["10000000000", "99999999999.99", "9".repeat(400), `1.${"0".repeat(400)}`, "1/2", "__proto__", "[1]", "{}"]
  ]
  test(`${hostile.length} hostile spellings are refused, never rounded`, () => {
    for (const text of hostile) {
      expect([text, Exit.isFailure(decode(text))]).toEqual([text, true])
      expect(() => Money.dollars(text)).toThrow()
    }
  })

  test("only text is an amount", () => {
    for (const value of [1, 0.1, 1n, null, undefined, true, ["1"], { amount: "1" }, new String("1")]) {
      expect(Exit.isFailure(decode(value))).toBe(true)
    }
  })

  test("the refusal says what is expected", () => {
    expect(String(decode("1e3"))).toContain('a decimal string in USD such as "10.00", at most 6 decimals')
  })

  test("a sign belongs to ledger amounts only", () => {
    expect(Exit.isFailure(decode("-1.00"))).toBe(true)
    expect(decodeSigned("-0.0042")).toEqual(Exit.succeed(Money.MicroUsd(-4200n)))
    for (const text of ["+1", "--1", "- 1", "-", "-.5", "-01"]) expect(Exit.isFailure(decodeSigned(text))).toBe(true)
  })
})

describe("arithmetic", () => {
  const some = Money.dollars
  test("is exact where floating point is not", () => {
    expect(Money.plus(some("0.1"), some("0.2"))).toBe(some("0.3"))
    expect(Money.sum(Array.from({ length: 1_000_000 }, () => some("0.000001")))).toBe(some("1"))
    expect(Money.times(some("0.0042"), 1000)).toBe(some("4.2"))
    expect(Money.minus(some("1"), some("0.000001"))).toBe(some("0.999999"))
    expect(Money.negate(some("1"))).toBe(Money.MicroUsd(-1_000_000n))
    expect(Money.sum([])).toBe(Money.zero)
  })
  test("a part of a unit is no unit", () => {
    expect(() => Money.times(some("1"), 0.5)).toThrow()
  })
  test("the smaller and the larger", () => {
    expect(Money.min(some("1"), some("2"))).toBe(some("1"))
    expect(Money.max(some("1"), some("2"))).toBe(some("2"))
  })
  test("a share is rounded up, unless it is exact", () => {
    const share = (amount: bigint, part: bigint, whole: bigint) => Money.share(Money.MicroUsd(amount), part, whole)
    expect([share(10n, 1n, 3n), share(10n, 2n, 3n), share(9n, 2n, 3n)]).toEqual([4n, 7n, 6n].map(Money.MicroUsd))
  })
  test("only whole cents are cents", () => {
    expect(Money.ofCents(1)).toBe(some("0.01"))
    expect([Money.centsOf(some("12.34")), Money.centsOf(Money.zero)]).toEqual([1234, 0])
    expect([Money.centsOf(some("0.010001")), Money.centsOf(some("0.009999"))]).toEqual([null, null])
  })
  test("only a literal with a sign is negative", () => {
    expect([Money.signed("-0.5"), Money.signed("0.5")]).toEqual([Money.negate(some("0.5")), some("0.5")])
    expect(() => Money.signed("+0.5")).toThrow("not an amount: +0.5")
  })
})

describe("a decimal", () => {
  const of = Decimal.parse
  const textOf = (text: string) => Decimal.text(of(text))
  test("is printed without trailing zeros", () => {
    expect(Decimal.text(Decimal.integer(20n))).toBe("20")
    expect(["0.000125", "20", "20.00", "0.50", "0", "0.0"].map(textOf)).toEqual([
      "0.000125",
      "20",
      "20",
      "0.5",
      "0",
      "0"
    ])
  })
  test("is added, multiplied and compared exactly, however many digits each has", () => {
    expect(Decimal.text(Decimal.sum(["0.5", "0.25", "2"].map(of)))).toBe("2.75")
    expect(Decimal.text(Decimal.product(["0.5", "0.25", "2"].map(of)))).toBe("0.25")
    expect([Decimal.text(Decimal.sum([])), Decimal.text(Decimal.product([]))]).toEqual(["0", "1"])
    for (const [small, large] of [
      ["0.25", "0.5"],
      ["0.5", "0.75"],
      ["2", "2.000001"]
    ] as const) {
      expect(Decimal.text(Decimal.max(of(small), of(large)))).toBe(large)
      expect(Decimal.text(Decimal.max(of(large), of(small)))).toBe(large)
    }
    expect(Decimal.isEqual(of("1.5"), of("1.500"))).toBe(true)
    expect(Decimal.isEqual(of("1.5"), of("1.501"))).toBe(false)
  })
  test("is rounded up once, unless it is exact", () => {
    const micros = (text: string) => Decimal.micros(of(text))
    expect(["0.000001", "0.0000011", "0.0000001", "0", "3"].map(micros)).toEqual(
      [1n, 2n, 1n, 0n, 3_000_000n].map(Money.MicroUsd)
    )
    const scaled = (...[a, numerator, denominator]: [string, string, string]) =>
      Decimal.text(Decimal.scaledUp(of(a), of(numerator), of(denominator), 4))
    expect(scaled("1", "1", "3")).toBe("0.3334")
    expect(scaled("0.25", "0.1", "0.3")).toBe("0.0834")
    expect(scaled("1.5", "0.4", "0.3")).toBe("2")
  })
})
