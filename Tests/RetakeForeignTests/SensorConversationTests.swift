import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTestSupport
import Testing

@testable import RetakeForeign
@testable import RetakeStages

/// Programs that read sensors.
@Suite(.enabled(if: PythonProgram.isHere, SkipReason.noPython)) struct SensorConversationTests {
  /// The sensors of the messages, as one number: the newest value plus the sum of the window. Notes
  /// the messages in files.
  private static let reading = """
    note("sensors", json.dumps(hello.get("sensors")))
    ready()
    for frame in frames():
        one = frame["sensors"][0]
        note("frame", json.dumps(one))
        scalar(frame, one["latest"][1][0] + sum(row[1][0] for row in one["window"]))
    """

  private static let track = SensorTrack(
    number: 0, name: "gyro \"x\"", kind: "gyroscope", unit: "rad/s", channels: ["x", "ü"],
    sampleCount: 3)

  private func sample(_ time: Int64, _ values: [Double]) -> SensorSample {
    let time = Timestamp(nanoseconds: time)
    return SensorSample(time: time, arrival: time, values: values)
  }

  private func context(_ window: [SensorSample]) -> StageContext {
    StageContext(
      frame: FrameID(track: 0, sequence: 4), timestamp: Timestamp(nanoseconds: 50),
      sensors: [
        SensorReading(track: Self.track, latest: sample(40, [0.1, .nan]), window: window)
      ])
  }

  private func stage(_ program: PythonProgram) throws -> AnyStage {
    var foreign = ForeignProgram(command: program.command, output: .scalars)
    foreign.sensors = [.window(Self.track.name, .milliseconds(33))]
    return try AnyStage.process(foreign, options: .object([:]))
  }

  private func outcome(_ stage: AnyStage, _ context: StageContext) throws -> StageOutcome {
    guard case .pure(let process) = stage.body else {
      Issue.record("the program is pure")
      return .failure(.noFrame)
    }
    let pixels = [UInt8](repeating: 1, count: 8)
    return process(Frame(format: .gray, width: 4, height: 2, planes: [pixels]), context)
  }

  @Test func `a program is given the newest sample and the window`() throws {
    let program = try PythonProgram(Self.reading)
    let stage = try stage(program)
    #expect(stage.sensorReads == [.window(Self.track.name, .milliseconds(33))])
    let found = try outcome(stage, context([sample(20, [1, 2]), sample(40, [0.1, .infinity])]))
    #expect(try found.get() as? Scalars == Scalars([.init("v", 0.1 + 1.1)]))
    #expect(
      program.lines(of: "sensors") == [#"[{"sensor": "gyro \"x\"", "windowNs": 33000000}]"#])
    let given = try JSONValue(parsing: Data(try #require(program.lines(of: "frame").first).utf8))
    let expected = try JSONValue(
      parsing: Data(
        #"""
        {"sensor": "gyro \"x\"", "unit": "rad/s", "channels": ["x", "ü"],
         "latest": [40, [0.1, null]], "window": [[20, [1, 2]], [40, [0.1, null]]]}
        """#.utf8))
    #expect(given == expected)
  }

  @Test func `without a session, or with too many samples, the stage fails by name`() throws {
    let program = try PythonProgram(Self.reading)
    let stage = try stage(program)
    let plain = StageContext(
      frame: FrameID(track: 0, sequence: 4), timestamp: Timestamp(nanoseconds: 50))
    func code(_ outcome: StageOutcome) -> String? {
      guard case .failure(let error) = outcome else { return nil }
      return error.code
    }
    #expect(code(try outcome(stage, plain)) == "sensor.none")
    let many = (0..<60_000).map { sample(Int64($0), [1, 2]) }
    #expect(code(try outcome(stage, context(many))) == "process.sensors.long")
    // Half a megabyte is sent.
    let most = (0..<10_000).map { sample(1 << 60 + Int64($0), [-0.1234567890123456, 1e-300]) }
    let sent = try outcome(stage, context(most))
    #expect(code(sent) == nil, "\(sent)")
    // Its file has to be there when it is started.
    withExtendedLifetime(program) {}
  }

  @Test func `a node's sensors are checked before its program is started`() {
    func problem(_ sensors: [ProcessSensor], output: String = "scalars") -> String? {
      var options = ProcessOptions()
      (options.command, options.output, options.sensors) = (["none-such"], output, sensors)
      do {
        _ = try options.program()
        return nil
      } catch {
        return (error as? OptionError)?.key ?? "\(error)"
      }
    }
    #expect(problem([.init(sensor: "a"), .init(sensor: "b", milliseconds: 600_000)]) == nil)
    #expect(problem([.init(sensor: "")]) == "sensors")
    #expect(problem([.init(sensor: "a", milliseconds: -1)]) == "sensors")
    #expect(problem([.init(sensor: "a", milliseconds: 600_001)]) == "sensors")
    #expect(problem([.init(sensor: "a"), .init(sensor: "a")]) == "sensors")
    #expect(problem((0..<17).map { .init(sensor: "s\($0)") }) == "sensors")
    #expect(problem([.init(sensor: "a")], output: "program") == "sensors")
  }
}
