import Foundation
import Testing

/// Every test can fail.
@Suite struct AssertionTests {
  @Test func `every test expects something`() throws {
    let files = try Repository.swiftFiles(in: ["Tests"])
    for (target, files) in Dictionary(grouping: files, by: \.target) {
      let findings = try AssertionRule.findings(in: files)
      #expect(findings == [], "in \(target)")
    }
  }

  func lines(_ text: String) throws -> [Int] {
    try AssertionRule.findings(in: [SourceFile(path: "Tests/XTests/X.swift", text: text)])
      .map(\.line)
  }

  @Test func `a test that expects nothing is found`() throws {
    let text = """
      @Test func `one is one`() { #expect(1 == 1) }
      @Test(arguments: [1, 2])
      func `nothing happens`(value: Int) throws {
        let sum = value + 1  // #expect(sum == 2)
        run { sum }
      }
      """
    #expect(try lines(text) == [3])
  }

  @Test func `a helper that expects counts, also through another`() throws {
    let text = """
      func check(_ value: Int) { inner(value) }
      func inner(_ value: Int) { #expect(value > 0) }
      func idle(_ value: Int) { print("#expect") }
      @Test func `checked`() { check(1) }
      @Test func `idle`() { idle(1) }
      """
    #expect(try lines(text) == [5])
  }

  @Test func `default arguments with braces do not end a function`() throws {
    let text = """
      @Test func `with closure`(body: () -> Int = { 1 }) { #expect(body() == 1) }
      """
    #expect(try lines(text) == [])
  }
}
