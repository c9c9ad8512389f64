import Foundation

/// A test without an expectation always passes. Every test must have one, directly or in a helper
/// of its target that it calls.
enum AssertionRule {
  static let words = #"#expect\b|#require\b|\bIssue\.record\(|\bconfirmation\(|\bexpectReplay\("#

  /// - Parameter files: All Swift files of one test target.
  static func findings(in files: [SourceFile]) throws -> [Finding] {
    let functions = try files.flatMap(TestedFunction.all)
    let asserting = try assertingNames(among: functions)
    let pattern = try LinePattern(words)
    return functions.filter { function in
      function.isTest && pattern.lines(in: function.body).isEmpty
        && function.calls.isDisjoint(with: asserting)
    }.map { Finding(path: $0.path, line: $0.line, rule: "the test expects nothing") }.sorted()
  }

  /// Helpers with an expectation, or that call one with an expectation.
  private static func assertingNames(among functions: [TestedFunction]) throws -> Set<String> {
    let pattern = try LinePattern(words)
    let helpers = functions.filter { !$0.isTest }
    var names = Set(helpers.filter { !pattern.lines(in: $0.body).isEmpty }.map(\.name))
    // Ends: each round adds a helper or is the last.
    while let more = helpers.first(where: {
      !names.contains($0.name) && !$0.calls.isDisjoint(with: names)
    }) {
      names.insert(more.name)
    }
    return names
  }
}

/// A function of a test file, extracted by its braces.
struct TestedFunction {
  var path: String
  var line: Int
  var name: String
  var isTest: Bool
  var body: String
  var calls: Set<String>

  static func all(in file: SourceFile) throws -> [TestedFunction] {
    let code = SwiftCode(file.text).text
    let head = try NSRegularExpression(
      pattern: #"(@Test\b(?:(?!\bfunc\b)[\s\S])*?)?\bfunc\s+(`[^`]+`|\w+)"#)
    let call = try NSRegularExpression(pattern: #"\b(\w+)\s*[({]"#)
    let text = code as NSString
    let whole = NSRange(location: 0, length: text.length)
    return head.matches(in: code, range: whole).map { match in
      let body = body(of: text, from: NSMaxRange(match.range))
      let calls = call.matches(in: body, range: NSRange(location: 0, length: body.utf16.count))
        .map { (body as NSString).substring(with: $0.range(at: 1)) }
      let start = match.range(at: 2).location
      return TestedFunction(
        path: file.path,
        line: text.substring(to: start).split(separator: "\n", omittingEmptySubsequences: false)
          .count, name: text.substring(with: match.range(at: 2)),
        isTest: match.range(at: 1).location != NSNotFound, body: body, calls: Set(calls))
    }
  }

  /// From the first brace outside parentheses to the matching brace.
  private static func body(of text: NSString, from start: Int) -> String {
    var parentheses = 0
    var braces = 0
    var begin: Int?
    for position in start..<text.length {
      switch text.character(at: position) {
      case 0x28 where begin == nil: parentheses += 1
      case 0x29 where begin == nil: parentheses -= 1
      case 0x7B where begin != nil || parentheses == 0:
        begin = begin ?? position
        braces += 1
      case 0x7D where begin != nil:
        braces -= 1
        if braces == 0, let begin {
          return text.substring(with: NSRange(location: begin, length: position + 1 - begin))
        }
      default: break
      }
    }
    return ""
  }
}
