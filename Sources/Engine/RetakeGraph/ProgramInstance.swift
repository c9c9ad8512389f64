package import RetakeCore

/// A whole program in one run: a stateful stage that also computes between two frames, when its
/// timers are due. The calls come one at a time, like the calls of `process`.
///
/// The value of a frame is `ProgramOuts`. It is complete when the next frame begins, because a timer
/// that is due before adds to it.
package protocol ProgramInstance: StageInstance {
  /// Calls the timers that are due in a pause, and adds their output to the value of the last
  /// frame.
  ///
  /// A fault is kept in `fault`; the value then has the output before the fault.
  func pause(_ value: any PipelineValue, _ pause: ProgramPause) -> any PipelineValue

  /// The error that ended the program. The next call of `process` returns it, too. Read it only
  /// after all calls have returned.
  var fault: StageError? { get }
}

/// The event after a frame of a program.
package enum ProgramPause: Hashable, Sendable {
  /// Another frame, in virtual nanoseconds.
  case until(Int64)
  /// No frame.
  case end
  /// The run no longer needs the program's output.
  case abandoned
}

/// The output of a whole program for one frame: a value for each of its sinks.
package struct ProgramOuts: PipelineValue {
  package static var valueKind: ValueKind { .user(name: "program-outs", version: 1) }

  private struct Entry: Sendable {
    var sink: String
    /// The initial value of the sink, which determines the type of its values.
    var empty: any PipelineValue
    var gathered = Gathered()

    var value: any PipelineValue { gathered.value(of: empty) }
  }

  /// In the byte order of their sinks.
  private var entries: [Entry]

  /// - Parameter empty: The initial value of each sink: `Detections`, `Classes` or `Scalars`
  ///   without items.
  package init(empty: [(sink: String, value: any PipelineValue)]) {
    entries = empty.sorted { $0.sink < $1.sink }.map { Entry(sink: $0.sink, empty: $0.value) }
  }

  /// The value for a sink; `nil` if the program does not have it.
  package func value(for sink: String) -> (any PipelineValue)? {
    entries.first { $0.sink == sink }?.value
  }

  /// Appends a value of the sink's type to the values that the sink already has.
  package mutating func add(_ value: any PipelineValue, to sink: String) {
    guard let index = entries.firstIndex(where: { $0.sink == sink }) else {
      preconditionFailure("'\(sink)' is a sink of the program")
    }
    entries[index].gathered.add(value)
  }

  package func digest(into hasher: inout DigestHasher) {
    hasher.append(Int64(entries.count))
    for entry in entries {
      hasher.append(entry.sink)
      entry.value.digest(into: &hasher)
    }
  }

  package var facts: [ResultFact] { entries.flatMap(\.value.facts) }
}

/// The values for one sink, in one of four lists. They grow in place: a program may output many
/// values for a frame, one at a time.
private struct Gathered: Sendable {
  private var detections: [Detection] = []
  private var classes: [Classification] = []
  private var scalars: [Scalars.Entry] = []
  private var observations: [Observation] = []
  private var names = FreeNames()

  mutating func add(_ value: any PipelineValue) {
    switch value {
    case let value as Detections: detections.append(contentsOf: value.items)
    case let value as Classes: classes.append(contentsOf: value.items)
    case let value as Observations: observations.append(contentsOf: value.items)
    case let value as Scalars:
      for entry in value.entries { scalars.append(.init(names.take(entry.name), entry.value)) }
    default: preconditionFailure("a sink is given values of a program's outputs")
    }
  }

  func value(of empty: any PipelineValue) -> any PipelineValue {
    switch empty {
    case let empty as Detections: Detections(detections, classNames: empty.classNames)
    case is Classes: Classes(classes)
    case is Observations: Observations(observations)
    case is Scalars: Scalars(scalars)
    default: preconditionFailure("a sink is given values of a program's outputs")
    }
  }
}

/// `light`, and then `light#2`: each name of a result is there once.
private struct FreeNames: Sendable {
  private var taken: Set<String> = []
  /// The last number of a name that was there already. No name becomes free again, so smaller
  /// numbers need not be tried again.
  private var numbers: [String: Int] = [:]

  mutating func take(_ name: String) -> String {
    if taken.insert(name).inserted { return name }
    var number = numbers[name] ?? 1
    // Bounded: there are more numbers than names.
    while true {
      number += 1
      let result = "\(name)#\(number)"
      guard taken.insert(result).inserted else { continue }
      numbers[name] = number
      return result
    }
  }
}

extension GraphIndex {
  /// The output of a whole program is not complete before the next frame, so only sinks can be
  /// connected to it.
  func checkPrograms() throws {
    for node in nodes.indices {
      guard let sinks = nodes[node].stage.programSinks else { continue }
      for edge in outgoing[node] {
        let receiver = nodes[receivers[edge]]
        guard receiver.stage.signature.role == .sink else {
          throw PipelineError(
            .unsupported(
              "the program '\(nodes[node].id)' sends values only to sinks, and '\(receiver.id)' "
                + "is not a sink",
              advice: "Lead its edges to sinks, and compute everything else in the program"),
            at: pointer(ofEdge: edge))
        }
        guard sinks.contains(receiver.id) else {
          throw PipelineError(
            .wrongValue(
              "the program of '\(nodes[node].id)' has no sink '\(receiver.id)'",
              advice: "Its sinks are \(sinks.joined(separator: ", ")): name the node so"),
            at: pointer(ofEdge: edge))
        }
      }
    }
  }
}
