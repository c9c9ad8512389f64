import Foundation
import Testing

/// `retake migrate`, as users type it.
struct MigrateTests {
  @Test func `a project with old words is refused, checked, rewritten and accepted`() throws {
    let workplace = try Workplace()
    try workplace.folder.write(
      "v: 1\ncases:\n  a: {pipeline: 'example:motion-boxes', mode: lossless} # all\n",
      to: "retake.yml")

    let refused = try workplace.retake("test")
    #expect(refused.status == 2)
    #expect(refused.stderr.contains("'lossless' was renamed to 'every-frame'"), "\(refused.stderr)")
    #expect(refused.stderr.contains("retake migrate"))

    let check = try workplace.retake("migrate", "--check")
    #expect(check.status == 1)
    #expect(check.stdout.contains("retake.yml:3: lossless → every-frame"), "\(check.stdout)")

    let json = try workplace.retake("migrate", "--check", "--json")
    #expect(json.status == 1 && json.stdout.contains("\"new\" : \"every-frame\""), "\(json.stdout)")

    #expect(try workplace.retake("migrate").status == 0)
    let text = try String(contentsOf: workplace.folder.file("retake.yml"), encoding: .utf8)
    #expect(text.hasSuffix("mode: every-frame} # all\n"))
    #expect(try workplace.retake("migrate", "--check").status == 0)
    #expect(try workplace.retake("migrate", "nowhere").status == 2)
  }
}
