import Testing

@testable import RetakeCore

@Suite struct ByteTextTests {
  @Test func `amounts are in powers of ten, with one decimal`() {
    let texts = [0, 1, 999, 1_000, 999_949, 999_950, 504_961, 416_188_416].map { ByteText.of($0) }
    #expect(
      texts == [
        "0 bytes", "1 byte", "999 bytes", "1.0 kB", "999.9 kB", "1.0 MB", "505.0 kB", "416.2 MB",
      ])
  }

  @Test func `limits keep the unit in which they were set`() {
    let texts = [64 << 20, 4 << 30, 2 << 10, 500_000_000, 0].map { ByteText.limit($0) }
    #expect(texts == ["64 MiB", "4 GiB", "2 KiB", "500.0 MB", "0 bytes"])
  }
}
