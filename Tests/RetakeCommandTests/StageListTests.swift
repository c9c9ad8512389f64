import Foundation
import Retake
import RetakeTestSupport
import Testing

/// `retake pipeline stages`, and the page that is made of it.
@Suite struct StageListTests {
  @Test func `each built-in kind is known by its name, also without its annex`() {
    #expect(StageRegistry.builtInKinds == Set(StageRegistry.builtIn.kinds))
  }

  private func list(_ words: String..., binary: String? = nil) throws -> CommandResult {
    try Workplace().retake(words: ["pipeline", "stages"] + words, binary: binary)
  }

  @Test func `each option of a kind has its default and a line with unit and range`() throws {
    let result = try list("motion")
    #expect(result.status == 0, "\(result.stderr)")
    let lines = result.stdout.split(separator: "\n").map(String.init)
    #expect(lines.count == 6, "\(result.stdout)")
    #expect(lines[0].hasPrefix("motion  frame → detections  finds moving regions"))
    #expect(
      lines[1]
        == "  cell            4   side of the square cells that regions consist of, in pixels; 1 to 64"
    )
    #expect(lines[5].hasPrefix("  threshold       24  smallest change of a pixel's luma"))
  }

  @Test func `kinds whose options are required are explained as well`() throws {
    let text = try list("crop", "route", "detect", "process", "join").stdout
    for words in [
      "  width   0  in pixels, up to 16384; 0 reaches to the right edge",
      #"  detections  -  to match if there are that many: {"countMin": 1"#,
      "path of an .onnx file, relative to the folder in which the command runs; required",
      #"  command         []       the program, then its arguments; required"#,
      "  ports  []     2 to 16 names of inputs",
    ] { #expect(text.contains(words), "\(words) in \(text)") }
  }

  @Test func `JSON has name, default and explanation`() throws {
    let json = try list("screen", "--json").json()
    #expect(json.count == 1 && json[0].kind.text == "screen")
    #expect(json[0].options[0].name.text == "hertz")
    #expect(json[0].options[0]["default"].int == 60)
    #expect(
      json[0].options[0].explanation.text == "refreshes per second, above 0 and at most 1000")
  }

  @Test func `a kind that there is not is a wrong argument with the nearest one`() throws {
    let result = try list("moton")
    #expect(result.status == 64 && result.stdout.isEmpty)
    #expect(result.stderr.contains("Did you mean 'motion'?"), "\(result.stderr)")
  }

  private struct OwnOptions: StageOptions {
    static let explanations = ["above": "level above which a pixel is bright, 0 to 255"]
    var above = 200
    var every = 3
  }

  private struct Own: PureStage {
    typealias Options = OwnOptions
    static let kind = "own"
    let options: OwnOptions

    init(options: OwnOptions) { self.options = options }
    func process(_ input: Scalars, _ context: StageContext) -> Scalars { input }
  }

  @Test func `a user's own options are listed, with an explanation or without one`() {
    var registry = StageRegistry()
    registry.register(Own.self)
    #expect(
      registry.options(of: "own") == [
        StageOption(
          "above", defaultValue: .integer(200),
          explanation: "level above which a pixel is bright, 0 to 255"),
        StageOption("every", defaultValue: .integer(3), explanation: nil),
      ])
    #expect(registry.options(of: "other") == [])
  }

  @Test func `every option of every built-in kind is explained, and nothing else is`() {
    for kind in StageRegistry.builtIn.kinds {
      for option in StageRegistry.builtIn.options(of: kind) {
        let text = option.explanation ?? ""
        #expect(text.count > 10, "\(kind).\(option.name)")
        // One line for a terminal, and a cell of a table.
        #expect(text.count <= 140 && !text.contains("\n"), "\(kind).\(option.name)")
      }
    }
    func check<Options: StageOptions>(_ type: Options.Type) {
      let names = Set(StageOption.all(of: type).map(\.name))
      #expect(Set(type.explanations.keys).subtracting(names) == [], "\(type)")
    }
    check(MotionOptions.self)
    check(SyntheticOptions.self)
    check(DownsampleOptions.self)
    check(CropOptions.self)
    check(ResampleOptions.self)
    check(PulseRateOptions.self)
    check(MergeDetectionsOptions.self)
  }

  @Test func `docs/stages.md is what --markdown prints`() throws {
    let page = try String(
      contentsOf: packageRoot.appending(path: "docs/stages.md"), encoding: .utf8)
    let printed = try list("--markdown").stdout
    #expect(
      page == printed,
      "Write it again: .build/release/retake pipeline stages --markdown > docs/stages.md")
  }
}
