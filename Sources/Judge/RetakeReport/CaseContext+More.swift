import RetakeCore

extension CaseContext {
  /// The most groups of decisions that are shown without the script.
  static let groupsMax = 40
  /// The most commands that accept, one per root cause.
  static let acceptMax = 20

  /// Decision groups, tracks, rules and the accept panel of a case.
  static func more(_ item: ReportCase) -> Values {
    let groups = item.decisions?.groups ?? []
    let left = (item.decisions?.groupCount ?? 0) - groupsMax
    let accepts = acceptCommands(item)
    return [
      "groups": groups.prefix(groupsMax).map(group), "hasGroups": !groups.isEmpty,
      "hasMoreGroups": left > 0,
      "moreGroups": left > 0 ? "and \(Wording.count(left, "other group"))" : "",
      "tracks": item.tracks.map { track($0, of: item) }, "hasTracks": !item.tracks.isEmpty,
      "rules": item.tolerances.map { ["ruleSink": $0.sink, "ruleText": $0.rule] },
      "hasRules": !item.tolerances.isEmpty,
      "acceptCommands": accepts.map(PageContext.command), "hasAccept": !accepts.isEmpty,
      "hasLastAccepted": item.accepted != nil,
      "lastAccepted": item.accepted.map { "\($0.reason) (\($0.at))" } ?? "",
    ]
  }

  /// The most strips of one case; a report that was altered could have any number.
  static let stripsMax = 12

  /// The curves of sensors around frames, each with a legend.
  static func sensors(_ item: ReportCase) -> Values {
    let strips = (item.sensors ?? []).prefix(stripsMax)
    return [
      "sensorStrips": strips.map { strip -> Values in
        let range = SensorDrawing.range(strip)
        let unit = strip.unit.map { " \($0)" } ?? ""
        return [
          "sensorFrame": "\(strip.frame)", "sensorName": strip.sensor,
          "sensorNode": strip.node,
          "sensorRange": range.map {
            "\(Wording.number($0.lowerBound)) to \(Wording.number($0.upperBound))\(unit)"
          } ?? "no numbers",
          "sensorChannels": strip.curves.prefix(3).enumerated().map {
            ["channelName": $1.channel, "channelKind": "curve-\($0)"]
          },
          "sensorDrawing": SensorDrawing.svg(strip),
        ]
      }, "hasSensors": !strips.isEmpty,
    ]
  }

  /// Only the nearest cause is shown; the list of lines has the complete chain.
  private static func group(_ group: DecisionGroup) -> Values {
    let frames = group.first.map { first in
      group.last.map { $0 == first ? "\(first)" : "\(first) to \($0)" } ?? "\(first)"
    }
    return [
      "change": group.change.rawValue, "groupWhat": "\(group.kind) at \(group.node)",
      "groupFrames": frames ?? "–", "groupCount": Wording.grouped(group.count),
      "groupNote": group.note ?? "",
    ].merging(because(Array(group.because.prefix(1)))) { $1 }
  }

  private static func track(_ track: ReportTrack, of item: ReportCase) -> Values {
    let findings = item.findings.items.count { $0.frame?.track == track.track }
    return [
      "trackNumber": track.track, "trackFrames": Wording.grouped(track.frames),
      "trackSize": "\(track.width) × \(track.height)",
      "trackTimeBase": track.timeBase?.description ?? "–",
      "trackFindings": Wording.grouped(findings),
    ]
  }

  /// The commands that accept this case: one for each root cause, or one for all of them.
  static func acceptCommands(_ item: ReportCase) -> [ReportCommand] {
    var commands: [ReportCommand] = []
    for cause in item.rootCauses.prefix(acceptMax) {
      guard let command = cause.commands.first(where: \.accepts),
        !commands.contains(where: { $0.command == command.command })
      else { continue }
      commands.append(ReportCommand(cause.id, command.command))
    }
    if commands.count == 1, item.rootCauses.count > 1 {
      commands[0].title = "all \(item.rootCauses.count) root causes"
    }
    // Without a root cause, as for a missing golden, the case itself has the command.
    return commands.isEmpty ? item.commands.filter(\.accepts) : commands
  }
}
