/// The topics of a bag that become tracks and sensors, and why other topics do not.
struct BagSelection {
  struct Track: Hashable {
    /// The topic's number in the bag.
    var topic: Int
    var type: ImageType
  }

  struct Sensor: Hashable {
    /// The topic's number in the bag.
    var topic: Int
    var plans: [SensorPlan]
  }

  /// In the order of their numbers as tracks.
  private(set) var tracks: [Track] = []
  private(set) var sensors: [Sensor] = []
  private(set) var leftOut: [BagImportResult.LeftOut] = []

  /// - Parameters:
  ///   - wanted: Names of topics; if empty, all topics with images or numbers are selected.
  ///   - first: The first message of topics, by the topic's number.
  ///   - cut: The loss in a bag that lost its end, for an error.
  /// - Throws: `BagError` if a wanted topic is missing or cannot be used, or if no topic has usable
  ///   images.
  init(
    _ topics: [BagTopic], wanted: [String], first: [Int: BagMessage], path: String,
    cut: String? = nil
  ) throws {
    let named = try Self.named(wanted, in: topics, path: path)
    // By name, so that two recordings of the same cameras have the same tracks.
    let order = wanted.isEmpty ? topics.indices.sorted { topics[$0].name < topics[$1].name } : named
    for number in order {
      let topic = topics[number]
      do {
        if let type = try ImageType(topic) {
          try Self.check(topic, type, first[number])
          tracks.append(Track(topic: number, type: type))
        } else {
          sensors.append(Sensor(topic: number, plans: try Self.plans(topic)))
        }
      } catch let error as TopicRefusal {
        guard wanted.isEmpty else { throw Self.error(error, topic, path) }
        leave(topic, error.reason)
      }
    }
    for number in topics.indices where !order.contains(number) {
      leave(topics[number], "it was not selected")
    }
    guard !tracks.isEmpty else {
      let numbers = sensors.map { Self.numbersOnly(topics[$0.topic].name, topics[$0.topic].type) }
      throw BagError.noImages(
        path: path, topics: leftOut.map { "\($0.topic): \($0.reason)" } + numbers, cut: cut)
    }
  }

  /// Describes a topic that cannot make a session alone.
  static func numbersOnly(_ topic: String, _ type: String) -> String {
    "\(topic): \(type) has numbers and no image"
  }

  private mutating func leave(_ topic: BagTopic, _ reason: String) {
    leftOut.append(BagImportResult.LeftOut(topic: topic.name, type: topic.type, reason: reason))
  }

  private static func named(
    _ wanted: [String], in topics: [BagTopic], path: String
  ) throws -> [Int] {
    var found: [Int] = []
    for name in wanted {
      let numbers = topics.indices.filter { topics[$0].name == name }
      guard !numbers.isEmpty else {
        throw BagError.unknownTopic(path: path, topic: name, known: topics.map(\.name).sorted())
      }
      found += numbers.filter { !found.contains($0) }
    }
    return found
  }

  private static func plans(_ topic: BagTopic) throws -> [SensorPlan] {
    let plans: [SensorPlan]
    do {
      plans = try BagSensor.plans(for: topic)
    } catch let error as DefinitionProblem {
      let kind = topic.type.isEmpty ? "a type without a name" : topic.type
      throw TopicRefusal(reason: "\(kind) has no image, and \(error.cause)")
    }
    if topic.count == 0 { throw TopicRefusal(reason: "it has no messages") }
    return plans
  }

  private static func check(
    _ topic: BagTopic, _ type: ImageType, _ first: BagMessage?
  ) throws {
    if topic.count == 0 { throw TopicRefusal(reason: "it has no messages") }
    // A damaged first message does not imply damage of later messages.
    guard let first, let image = try? ImageMessage(first, type: type) else { return }
    do {
      _ = try ImageForm(image, place: first.place)
    } catch let error as BagError {
      guard case .message = error else { throw TopicRefusal(reason: error.lossText, error: error) }
    }
  }

  private static func error(_ refusal: TopicRefusal, _ topic: BagTopic, _ path: String) -> BagError
  {
    refusal.error ?? .unusableTopic(path: path, topic: topic.name, reason: refusal.reason)
  }
}

/// Why a topic becomes neither a track nor sensors.
struct TopicRefusal: Error {
  var reason: String
  /// The error of its first message, if that is the reason.
  var error: BagError?
}
