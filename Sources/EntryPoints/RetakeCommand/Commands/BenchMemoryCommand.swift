import ArgumentParser
import Foundation
import Retake
import RetakeBench
import RetakeProcess

struct BenchMemoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "memory",
    abstract: "Resident memory of fixed and adaptive pools in a live run, in real time.",
    discussion: """
      A camera of 1920x1080 BGRA at 30 frames a second, a reader with two threads: 20 s with text (25 \
      to 50 ms a frame), 10 s of a peak (60 to 80 ms), 30 s without text. Each pool runs in a \
      separate process. MB are resident memory of the process, minus its memory before the first \
      frame: the mean, the maximum of each part, and the value at the end.

      Examples:
        retake bench memory
        retake bench memory --speed 1
        retake bench memory --json
      """)

  @Option(help: "How much faster than real time the run is, 1 to 20.")
  var speed: Int64 = 4

  @Option(help: .hidden)
  var pool: String?

  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (1...20).contains(speed) else { throw ValidationError("--speed is 1 to 20") }
  }

  func run() throws {
    Interruption.listen()
    if let pool { return try measure(pool) }
    var rows: [MemoryFigures] = []
    for contender in MemoryTrial.contenders {
      if Interruption.isRequested { throw CommandEnd(status: .interrupted) }
      rows.append(try inOwnProcess(contender.name))
    }
    if output.json { return try Console.json(rows) }
    Console.result(MemoryFigures.table(rows))
  }

  private func measure(_ name: String) throws {
    guard let contender = MemoryTrial.contenders.first(where: { $0.name == name }) else {
      throw ValidationError("'\(name)' is not one of the pools")
    }
    try Console.json(
      MemoryTrial(contender, speed: speed).run { Interruption.isRequested })
  }

  /// In a separate process: memory that an earlier pool did not free would count for a later pool.
  private func inOwnProcess(_ name: String) throws -> MemoryFigures {
    let pipe = try ChildPipe()
    var request = ChildProcess.Request(
      NewProcessRuns.ownExecutable,
      ["bench", "memory", "--pool", name, "--speed", "\(speed)", "--json"])
    request.output = .pipe(pipe)
    request.errors = .inherited
    let process = try ChildProcess(request)
    Interruption.onRequest { process.sendToGroup(SIGTERM) }
    var bytes: [UInt8] = []
    // Ends: the child closes its output when it ends.
    while let more = pipe.read(atMost: 1 << 16) { bytes += more }
    if Interruption.isRequested { throw CommandEnd(status: .interrupted) }
    do {
      return try JSONDecoder().decode(MemoryFigures.self, from: Data(bytes))
    } catch {
      throw BenchError(
        "suite.bench.noFigures", "the process that measured the pool '\(name)' gave no figures",
        advice: "Run 'retake bench memory --pool \"\(name)\"' to see why")
    }
  }
}
