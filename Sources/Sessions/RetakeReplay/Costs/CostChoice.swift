package import RetakeSession
package import RetakeTimePlane

/// The origin of virtual costs, as given on the command line and in retake.yml: `declared`,
/// `timings`, `timings@RUN`, `timings:FILE`, `profile:FILE`, or `timings:FILE+profile:FILE`.
package struct CostChoice: Hashable, Sendable, CustomStringConvertible {
  package enum Source: Hashable, Sendable {
    /// The costs that the pipeline declares.
    case declared
    /// The session's own stage times; if `nil`, the stage times of its newest run that has any.
    case session(run: Int?)
    case file(String)
  }

  package var source: Source
  /// The file of a device profile.
  package var profile: String?

  package static let declared = CostChoice(source: .declared)

  /// The valid forms, for messages.
  package static let forms =
    "declared, timings, timings@RUN, timings:FILE, profile:FILE, timings+profile:FILE"

  package init(source: Source, profile: String? = nil) {
    self.source = source
    self.profile = profile
  }

  /// Parses one of the forms; `nil` for any other string.
  package init?(parsing text: String) {
    let mark = "profile:"
    if text.hasPrefix(mark) {
      self.init(source: .declared, profile: String(text.dropFirst(mark.count)))
    } else if let range = text.range(of: "+" + mark),
      let source = Source(parsing: String(text[..<range.lowerBound]))
    {
      self.init(source: source, profile: String(text[range.upperBound...]))
    } else if let source = Source(parsing: text) {
      self.init(source: source)
    } else {
      return nil
    }
    if profile?.isEmpty == true { return nil }
  }

  package var description: String {
    guard let profile else { return "\(source)" }
    return (source == .declared ? "" : "\(source)+") + "profile:\(profile)"
  }

  /// Whether the choice is only useful if decisions are made again.
  package var needsSimulation: Bool { self != .declared }

  package var hasTimings: Bool { source != .declared }

  /// Whether the costs come from a session's own live runs.
  package var readsSession: Bool {
    if case .session = source { true } else { false }
  }

  /// The timings and the profile that are read, as they were named.
  package var files: [String] {
    guard case .file(let timings) = source else { return [profile].compactMap(\.self) }
    return [timings, profile].compactMap(\.self)
  }
}

extension CostChoice.Source: CustomStringConvertible {
  fileprivate init?(parsing text: String) {
    switch text {
    case "declared": self = .declared
    case "timings": self = .session(run: nil)
    default:
      if text.hasPrefix("timings@"), let run = Int(text.dropFirst(8)), run >= 0 {
        self = .session(run: run)
      } else if text.hasPrefix("timings:"), text.utf8.count > 8 {
        self = .file(String(text.dropFirst(8)))
      } else {
        return nil
      }
    }
  }

  package var description: String {
    switch self {
    case .declared: "declared"
    case .session(let run): "timings" + (run.map { "@\($0)" } ?? "")
    case .file(let name): "timings:\(name)"
    }
  }
}

extension CostChoice {
  /// Reads the timings and the profile of the choice.
  ///
  /// - Parameters:
  ///   - session: The session whose stage times are read.
  ///   - path: Returns the path of a named file.
  /// - Throws: `ReplayError` for files, `SessionError` for a session without stage times.
  package func load(session: SessionReader?, path: (String) throws -> String) throws -> RunCosts {
    var costs = RunCosts.declared
    switch source {
    case .declared: break
    case .session(let run):
      guard let session else { throw ReplayError.noSessionCosts }
      costs.timings = try session.recordedTimings(run: run)
    case .file(let name): costs.timings = try RecordedTimings(reading: try path(name), named: name)
    }
    costs.profile = try profile.map { try DeviceProfile(reading: try path($0), named: $0) }
    return costs
  }
}
