import Foundation
import Retake
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeProcess
import RetakeRuntime
import RetakeStages
import RetakeTestSupport
import Testing

@testable import RetakeForeign

/// A program of a few lines that speaks the protocol with only Python's standard library.
struct PythonProgram {
  static let isHere = ChildProcess.path(of: "python3") != nil

  /// The beginning of every program, after the conversation.
  private static let prelude = """
    here = os.path.dirname(os.path.abspath(__file__))

    def note(name, text):
        with open(os.path.join(here, name), "a") as file:
            file.write(text + "\\n")

    def ready(**changes):
        message = {"v": 1, "name": "test", "version": 1, "output": hello["output"],
                   "state": "pure", "formats": ["GRAY8"]}
        message.update(changes)
        send({"ready": message})

    def scalar(frame, value):
        send({"sequence": frame["sequence"], "value": {"scalars": [{"name": "v", "value": value}]}})

    def frames():
        while True:
            message = receive()
            if "reset" in message:
                send(message)
                yield None
            elif "frame" in message:
                yield message["frame"]
            else:
                sys.exit(0)

    def row(frame, number):
        offset, stride = frame["planes"][0]
        start = frame["slot"] * hello["slotBytes"] + offset + number * stride
        return pixels[start:start + frame["width"]]

    hello = receive()["hello"]
    note("started", str(os.getpid()))

    """

  let folder: TemporaryFolder
  let path: String

  init(_ body: String, transport: ForeignTransport = .files) throws {
    folder = try TemporaryFolder("retake-foreign")
    let conversation =
      transport == .files
      ? StageProgram.conversation
      : StageProgram.conversation.replacing(Self.files, with: Self.streams)
    path = try folder.write(conversation + Self.prelude + body + "\n", to: "program.py").path
  }

  /// The lines that open files 3 and 4.
  private static let files = """
    channel = socket.socket(fileno=3)
    pixels = mmap.mmap(4, 0, prot=mmap.PROT_READ)
    """

  private static let streams = """
    class Streams:
        def recv(self, count):
            return os.read(0, count)

        def sendall(self, data):
            while data:
                data = data[os.write(1, data):]

    channel = Streams()
    """

  /// Without the packages of the machine, whose search takes as long as Python itself.
  var command: [String] { ["python3", "-S", path] }

  /// The processes that were started, in their order.
  var started: [Int32] {
    lines(of: "started").compactMap { Int32($0) }
  }

  func lines(of file: String) -> [String] {
    let text = try? String(contentsOf: folder.file(file), encoding: .utf8)
    return (text ?? "").split(separator: "\n").map(String.init)
  }

  /// Gray frames, each with its number as the level.
  static func source(_ count: Int) -> AnyStage {
    .frames((0..<count).map { Frame(format: .gray, width: 8, height: 4, planes: [level($0)]) })
  }

  private static func level(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(number % 256), count: 32)
  }

  /// A pipeline of which the program is the only stage.
  func pipeline(
    frames: Int = 8, instances: Int = 1, timeoutSeconds: Double = 60
  ) throws -> Pipeline {
    try Pipeline.named("foreign").source(Self.source(frames))
      .process(command, output: .scalars, instances: instances, timeoutSeconds: timeoutSeconds)
      .results("values")
  }
}

/// Keeps the frames that a run reports.
final class Listener: RunObserver {
  var wantsDigests: Bool { true }
  private(set) var frames: [FinishedFrame] = []

  func finished(_ frame: FinishedFrame) { frames.append(frame) }

  var values: [Double] {
    frames.flatMap { frame in
      frame.result.outcomes.flatMap { outcome -> [Double] in
        guard case .facts(let facts) = outcome.content else { return [] }
        return facts.compactMap { fact in
          if case .scalar(_, let value) = fact { value } else { nil }
        }
      }
    }
  }
}

func run(
  _ pipeline: Pipeline, workers: Int = 2, notices: (@Sendable (StageNotice) -> Void)? = nil
) throws -> (outcome: RunOutcome, heard: Listener) {
  let listener = Listener()
  var options = RunOptions(workers: workers)
  options.notices = notices
  let outcome = try PreparedRun(pipeline, catalog: StageRegistry.builtIn)
    .run(options, observer: listener)
  return (outcome, listener)
}
