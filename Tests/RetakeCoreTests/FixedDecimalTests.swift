import Foundation
import Testing

@testable import RetakeCore

@Suite struct FixedDecimalTests {
  private func check(_ value: Double, _ decimals: Int, _ text: String) {
    #expect(FixedDecimal(value, decimals: decimals).text == text)
  }

  @Test func `numbers always show their decimals`() {
    check(120, 1, "120.0")
    check(0.9132, 4, "0.9132")
    check(0, 4, "0.0000")
    check(-7.25, 3, "-7.250")
    check(42, 0, "42")
    check(0.001, 9, "0.001000000")
  }

  @Test func `halves go to the even neighbor`() {
    check(0.25, 1, "0.2")
    check(0.75, 1, "0.8")
    check(-0.25, 1, "-0.2")
    check(2.5, 0, "2")
    check(3.5, 0, "4")
    check(0.5, 0, "0")
  }

  @Test func `there is no negative zero`() {
    check(-0.0, 1, "0.0")
    check(-0.04, 1, "0.0")
    #expect(FixedDecimal(-0.0, decimals: 1) == FixedDecimal(0, decimals: 1))
    #expect(FixedDecimal(-0.0, decimals: 1).units.sign == .plus)
  }

  @Test func `NaN and the infinities are words and equal themselves`() {
    check(.nan, 1, "nan")
    check(-.nan, 1, "nan")
    check(.infinity, 4, "inf")
    check(-.infinity, 4, "-inf")
    #expect(FixedDecimal(.nan, decimals: 1) == FixedDecimal(-.nan, decimals: 3))
    #expect(FixedDecimal(.nan, decimals: 1).hashValue == FixedDecimal(.nan, decimals: 3).hashValue)
    #expect(FixedDecimal(.nan, decimals: 1) != FixedDecimal(0, decimals: 1))
    #expect(FixedDecimal(.infinity, decimals: 1) != FixedDecimal(-.infinity, decimals: 1))
  }

  @Test func `large numbers are written digit by digit`() {
    check(0x1p62, 1, "4611686018427387904.0")
    check(1e22, 0, "10000000000000000000000")
    check(-1e13, 9, "-10000000000000.000000000")
    check(0x1p100, 0, "1267650600228229401496703205376")
  }

  @Test func `each whole power of two reads back as it was`() throws {
    for exponent in 0..<1_000 {
      let value = FixedDecimal(scalbn(1, exponent), decimals: 0)
      #expect(try #require(Double(value.text)) == scalbn(1, exponent))
    }
  }

  @Test func `steps are powers of ten`() throws {
    let fine = try Precision(box: 0.1, score: 0.0001, scalar: 1e-9)
    #expect((fine.boxDecimals, fine.scoreDecimals, fine.scalarDecimals) == (1, 4, 9))
    #expect(try Precision(box: 1).boxDecimals == 0)
    for wrong in [0.2, 0, -0.1, 10, 0.05, .nan, 1e-10] {
      #expect(throws: ResultTextError.self) { try Precision(score: wrong) }
    }
    #expect(Precision.default == (try Precision(box: 0.1, score: 0.0001, scalar: 0.001)))
  }

  @Test func `steps read as they stand in a pipeline document`() throws {
    let text = #"{"box": 0.1, "score": 0.0001}"#
    let steps = try JSONValue(parsing: Data(text.utf8)).decode(Precision.self)
    #expect(steps == .default)
    #expect(try JSONValue(encoding: steps).canonicalText == #"{"box":0.1,"score":0.0001}"#)
    let finer = try Precision(scalar: 0.01)
    #expect(try JSONValue(encoding: finer).decode(Precision.self) == finer)
    #expect(throws: ResultTextError.precision(name: "box", value: 0.3)) {
      try JSONValue(parsing: Data(#"{"box": 0.3}"#.utf8)).decode(Precision.self)
    }
  }
}
