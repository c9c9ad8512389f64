import RetakeCore
import RetakeSession
import RetakeStore

/// The sensors of one topic while the bag is read.
///
/// A message that is damaged, or measured before the previous message, is a loss: a session's
/// samples are in the order of their times, and a stage reads the newest sample that had arrived.
package final class BagSensor {
  let topic: BagTopic
  /// For the variants of the topic's type, the present one first.
  private let plans: [SensorPlan]
  /// The plan that fits the first good message.
  private(set) var plan: SensorPlan?
  /// The names of the sensors, in the order of the plan's parts.
  private(set) var names: [String] = []
  private var numbers: [Int] = []
  private(set) var sampleCount = 0
  /// The number of messages that are not samples, and why the first of them is not.
  private(set) var badCount = 0
  private(set) var firstBad: BagError?
  /// Number of messages that were recorded before the previous message.
  private(set) var lateCount = 0
  /// Integers that have no equal floating-point number.
  private(set) var roundedCount = 0
  private var (lastTime, lastArrival) = (Int64.min, Int64.min)

  init(topic: BagTopic, plans: [SensorPlan]) {
    (self.topic, self.plans) = (topic, plans)
  }

  /// The plans for a topic.
  ///
  /// - Throws: `DefinitionProblem` with the reason why its messages are not samples.
  package static func plans(for topic: BagTopic) throws -> [SensorPlan] {
    let type = MessageDefinition.plain(topic.type)
    guard !type.isEmpty else { throw DefinitionProblem(cause: "no name") }
    guard let encoding = MessageEncoding(rawValue: topic.encoding),
      encoding == .cdr || encoding == .ros1
    else {
      throw DefinitionProblem(
        cause: "its messages are written as '\(topic.encoding)', not as cdr or ros1")
    }
    let isReadable = !topic.schema.isEmpty && topic.schemaEncoding == encoding.definitionName
    // ROS 1 has other fields, and always writes the definition.
    let known = encoding == .cdr ? KnownDefinitions.texts(of: type) : []
    // The bag's definition has priority.
    let texts = isReadable ? [topic.schema] : known
    guard !texts.isEmpty else {
      throw DefinitionProblem(
        cause: topic.schema.isEmpty
          ? "the bag does not define it"
          : "its definition is written as '\(topic.schemaEncoding)', not as \(encoding.definitionName)"
      )
    }
    var plans: [SensorPlan] = []
    for text in texts {
      let definitions = try MessageDefinition.all(in: text, of: type, encoding)
      let layout = try MessageLayout(type, definitions: definitions, encoding: encoding)
      plans.append(try SensorPlan(layout, type: type, unit: topic.unit))
    }
    return plans
  }

  /// - Throws: `SessionError` if the samples cannot be written.
  func take(
    _ message: BagMessage, clock: BagClock, origin: BagOrigin, into samples: SampleWriter
  ) throws {
    let (time, arrival, numbers): (Int64, Int64, [Double])
    do {
      let values = try parsed(message)
      (time, arrival) = try times(values, message, clock, origin)
      if self.numbers.isEmpty { try add(to: samples, message.place) }
      numbers = values.numbers
      roundedCount += values.rounded
    } catch let error as BagError {
      badCount += 1
      firstBad = firstBad ?? error
      return
    }
    guard let plan else { preconditionFailure("a message that was read has a plan") }
    if arrival < lastArrival { lateCount += 1 }
    (lastTime, lastArrival) = (time, max(lastArrival, arrival))
    for (part, number) in zip(plan.parts, self.numbers) {
      try samples.append(
        number, time: time, arrival: lastArrival, part.places.map { numbers[$0] })
    }
    sampleCount += 1
  }

  private func parsed(_ message: BagMessage) throws -> MessageLayout.Values {
    var problem = MessageProblem(offset: 0, cause: "")
    for plan in plan.map({ [$0] }) ?? plans {
      do {
        let values = try plan.layout.values(of: message.bytes)
        self.plan = plan
        return values
      } catch let error as MessageProblem {
        if problem.cause.isEmpty { problem = error }
      }
    }
    throw BagError.message(message.place, cause: problem.text)
  }

  private func times(
    _ values: MessageLayout.Values, _ message: BagMessage, _ clock: BagClock, _ origin: BagOrigin
  ) throws -> (time: Int64, arrival: Int64) {
    let logged = clock.shifted(message.logNanoseconds)
    guard let time = origin.exactTime(of: values.stampNanoseconds ?? logged),
      let arrival = origin.exactTime(of: logged)
    else {
      throw BagError.message(
        message.place, cause: "its time is more than 73 years from the first image")
    }
    guard time >= lastTime else {
      let apart = Duration.nanoseconds(lastTime - time).roundedText
      throw BagError.message(
        message.place, cause: "its time is \(apart) earlier than that of the message before")
    }
    return (time, arrival)
  }

  // MARK: Names

  private func add(to samples: SampleWriter, _ place: BagPlace) throws {
    guard let plan, samples.tracks.count + plan.parts.count <= SensorRecord.countMax else {
      throw BagError.message(place, cause: "a session has at most \(SensorRecord.countMax) sensors")
    }
    for part in plan.parts {
      let name = samples.freeName(Self.name(topic.name, part.suffix))
      do {
        numbers.append(
          try samples.add(
            name: name, kind: part.kind, unit: part.unit, channels: part.channels,
            source: topic.name.isSensorText ? topic.name : name))
        names.append(name)
      } catch let error as SampleError {
        throw BagError.message(place, cause: error.message)
      }
    }
  }

  /// The most bytes of a name; the remaining bytes are for a suffix that makes the name unique.
  private static let nameBytesMax = 60

  /// `/imu/data` as `imu/data/angular_velocity`. Of a long name the end is kept, which differs
  /// most.
  static func name(_ topic: String, _ suffix: String) -> String {
    let plain = topic.utf8.drop { $0 == UInt8(ascii: "/") }.map { byte -> Character in
      let isPlain =
        (0x2D...0x39).contains(byte) || (0x41...0x5A).contains(byte)
        || (0x61...0x7A).contains(byte) || byte == 0x5F
      return isPlain ? Character(Unicode.Scalar(byte)) : "-"
    }
    let end = suffix.isEmpty ? "" : "/" + suffix
    let start = plain.isEmpty ? "topic" : String(plain.suffix(nameBytesMax - end.utf8.count))
    return start + end
  }
}
