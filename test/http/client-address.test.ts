import { describe, expect, test } from "bun:test"
import { clientAddress } from "../../src/http/middleware/ClientAddress.ts"

const peer = "10.0.0.1"

describe("the address that a request counts as", () => {
  test.each([
    // Without trusted proxies the header is the client's own invention.
    [0, "6.6.6.6", peer],
    [0, undefined, peer],
    [1, "203.0.113.7", "203.0.113.7"],
    [1, "6.6.6.6, 203.0.113.7", "203.0.113.7"],
    [2, "6.6.6.6, 203.0.113.7, 10.0.0.2", "203.0.113.7"],
    [1, "203.0.113.7:51234", "203.0.113.7"],
    [1, ' "203.0.113.7" ', "203.0.113.7"],
    [1, "[2001:db8::1]:443", "2001:db8:0:0::/64"],
    [1, "2001:DB8:0:0:ffff::9", "2001:db8:0:0::/64"],
    [1, "::ffff:203.0.113.7", "203.0.113.7"],
    // Fewer entries than hops: the leftmost, which a trusted proxy wrote.
    [3, "203.0.113.7", "203.0.113.7"],
    [1, undefined, peer],
    [1, "", peer],
    // What is no address never becomes the name of a bucket.
    [1, "unknown", peer],
    [1, "_hidden", peer],
    [1, "203.0.113.7, ", peer],
    [1, "203.0.113.999", peer],
    [1, "fe80::1%eth0", peer],
    [1, "for=203.0.113.7", peer],
    [2, "unknown, 10.0.0.2", "10.0.0.2"],
    [2, "x".repeat(20_000), peer],
    [1, `${"1.1.1.1,".repeat(5_000)}203.0.113.7`, "203.0.113.7"]
  ])("%p trusted proxies, %p", (hops, header, expected) => {
    expect(clientAddress(peer, header, hops)).toBe(expected)
  })

  test("is the connection's own, in one form", () => {
    expect(clientAddress("::ffff:127.0.0.1", undefined, 0)).toBe("127.0.0.1")
    expect(clientAddress("2001:db8:1:2:3:4:5:6", undefined, 0)).toBe("2001:db8:1:2::/64")
    expect(clientAddress(null, undefined, 1)).toBe("")
    expect(clientAddress(null, "203.0.113.7", 1)).toBe("203.0.113.7")
  })
})
