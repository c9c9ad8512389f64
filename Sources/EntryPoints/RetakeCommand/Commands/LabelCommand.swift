import ArgumentParser
import Foundation
import Retake

struct LabelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "label",
    abstract: "Import and propose labels: the truth that results are scored against.",
    discussion: """
      Examples:
        retake label import gt.txt --session yard --classes 1=person
        retake label propose yard/motion
      """,
    subcommands: [LabelImportCommand.self, LabelProposeCommand.self])
}

struct LabelImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Check labels of another program against a session, and write Labels/SESSION.json.",
    discussion: """
      Boxes are in pixels of the session's stored frames. A frame that the file does not list is not
      labelled, and is not scored; a listed frame without a box has no objects.

      Examples:
        retake label import annotations.json --session yard
        retake label import gt.txt --session yard --classes 1=person,3=car
        retake label import annotations.xml --session yard          # CVAT, for images or video
        retake label import labels/ --session yard --first-frame 0  # YOLO
        retake label import pulse.csv --session face                # time_s,bpm
      """)

  @Argument(help: "A file, or for YOLO a folder.")
  var file: String

  @Option(help: "The session: its name in Recordings, or its folder.")
  var session: String

  @Option(
    help: "coco, mot, cvat, yolo, lines (JSON lines of Retake) or table (numbers); by the content.",
    transform: Self.format)
  var format: LabelImport.Format?

  @Option(
    help: "The file's number of the session's frame 0; 1 for MOT, 0 for CVAT and tables.",
    transform: Bounded.whole(0...1_000_000_000))
  var firstFrame: Int?

  @Option(
    help:
      "Names of the classes: of YOLO in their order or with numbers, 1=car; of MOT with numbers.",
    transform: Self.classes)
  private var classes: ClassNames?

  @Option(
    help: "The track that is labelled, if the session has several.",
    transform: Bounded.whole(0...1_000_000))
  var track: Int?

  @Flag(help: "Replace labels of the same kind that the session has.")
  var replace = false

  @OptionGroup var output: OutputOptions

  private static func format(_ text: String) throws -> LabelImport.Format {
    guard let format = LabelImport.Format(rawValue: text) else {
      let known = LabelImport.Format.allCases.map(\.rawValue)
      throw ValidationError("write one of \(known.joined(separator: ", "))")
    }
    return format
  }

  private static func classes(_ text: String) throws -> ClassNames {
    var classes: [Int: String] = [:]
    let words = text.split(separator: ",", omittingEmptySubsequences: false)
    for (place, word) in words.enumerated() {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      let number = parts.count == 2 ? Int(parts[0]) : place
      guard let number, let name = parts.last, !word.isEmpty, parts.count <= 2,
        classes.updateValue(name, forKey: number) == nil
      else { throw ValidationError("write names as car,person or 1=person,3=car") }
    }
    return ClassNames(names: classes, areInOrder: !text.contains("="))
  }

  func run() throws {
    let project = try CommandEnvironment.current.project()
    var labels = LabelImport(file)
    (labels.format, labels.firstFrame) = (format, firstFrame)
    labels.classes = classes?.names ?? [:]
    labels.areClassesInOrder = classes?.areInOrder ?? false
    do {
      let summary = try LabelWork(project: project).add(
        labels, to: session, track: track, replaces: replace)
      if output.json { return try Console.json(summary) }
      Console.result(visible(summary.text))
    } catch let error as any RetakeError where error.code.hasPrefix("stages.detections") {
      // The file is read by the same code as the file of a stage, which has options.
      throw error.replacingAdvice("the option 'firstFrame'", with: "--first-frame")
    }
  }
}

struct LabelProposeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "propose",
    abstract: "Write a golden's results as draft labels, to be corrected by a person.",
    discussion: """
      The boxes of the primary results node become drafts in Labels/SESSION.json, in pixels of the
      stored frames. Drafts are not scored. A person corrects them in the browser: retake report serve.
      Frames that were corrected stay as they are.

      Examples:
        retake label propose yard/motion
        retake label propose gate/plates --texts
        retake label propose face/pulse --scalar bpm
      """)

  @Argument(help: "A golden: SESSION/CASE.")
  var golden: String

  @Flag(help: "Propose the first label of a box as its text.")
  var texts = false

  @Option(help: "Propose this number of each frame, too; repeat for several.")
  var scalar: [String] = []

  @Option(help: "The folder of the goldens.")
  var goldens: String?

  @OptionGroup var output: OutputOptions

  func run() throws {
    let project = try CommandEnvironment.current.project()
    var work = LabelWork(project: project)
    work.goldens = goldens.map { project.path($0) }
    let (summary, proposed) = try work.propose(golden, texts: texts, scalars: scalar)
    if output.json { return try Console.json(summary) }
    Console.result(visible("proposed \(counted(proposed, "frame")); \(summary.text)"))
    output.note("next: retake report serve, whose page corrects \(visible(summary.path))")
  }
}

extension LabelSummary {
  /// One line.
  fileprivate var text: String {
    var parts = ["\(labelled) of \(counted(captured, "frame")) labelled"]
    if negatives > 0 { parts.append("\(negatives) without objects") }
    if drafts > 0 { parts.append(counted(drafts, "draft")) }
    parts.append(counted(boxes, "box", "boxes"))
    if ignored > 0 { parts.append(counted(ignored, "ignored region")) }
    if !classes.isEmpty {
      let names = classes.prefix(8).joined(separator: ", ")
      parts.append("\(counted(classes.count, "class", "classes")): \(names)")
    }
    if identities > 0 { parts.append(counted(identities, "identity", "identities")) }
    if !scalars.isEmpty { parts.append("numbers: " + scalars.joined(separator: ", ")) }
    return "\(session)  " + parts.joined(separator: "; ")
  }
}

/// The value of `--classes`.
private struct ClassNames: Sendable {
  var names: [Int: String]
  /// Whether they have no numbers.
  var areInOrder: Bool
}
