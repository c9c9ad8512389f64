import RetakeCore

/// The measurements in the entries of subtitles: a channel for each field whose values are numbers.
///
/// The entries are read twice, because a field may be missing in the first entries.
struct SubtitleRows: SensorRows {
  let channels: [String]
  let valueUnit: String
  let unit = SensorTimeUnit.ms
  private let leftOut: [String]
  private var entries: any SubtitleEntries
  /// Entries without a field, and the place of the first.
  private var bare: (count: Int, first: Int) = (0, 0)

  /// - Parameters:
  ///   - columns: The fields to read, in order; empty for all that are numbers.
  ///   - open: Begins to read the entries.
  init(columns: [String], of file: String, _ open: () throws -> any SubtitleEntries) throws {
    var survey = SubtitleSurvey(file: file, columns: columns)
    var all = try open()
    while let entry = try all.next() { try survey.take(entry, all) }
    channels = try survey.channels()
    valueUnit = survey.unit(of: channels)
    leftOut = columns.isEmpty ? survey.leftOut : []
    entries = try open()
  }

  var remarks: [String] {
    var remarks: [String] = []
    if !leftOut.isEmpty {
      let names = leftOut.prefix(16).joined(separator: ", ") + (leftOut.count > 16 ? ", …" : "")
      remarks.append("fields without numbers are left out: \(names)")
    }
    if bare.count > 0 {
      remarks.append(
        "\(counted(bare.count, "entry", "entries")) without fields "
          + "\(bare.count == 1 ? "is" : "are") left out, from "
          + "\(type(of: entries).placeName) \(bare.first) on")
    }
    return remarks
  }

  mutating func next() throws -> SensorRow? {
    while let entry = try entries.next() {
      let fields = try SubtitleSurvey.fields(of: entry, entries, columns: channels)
      if fields.isEmpty {
        if bare.count == 0 { bare.first = entry.place }
        bare.count += 1
        continue
      }
      let values = channels.map { channel -> Double in
        guard let field = fields.first(where: { $0.name == channel }),
          case .number(let number, _) = field.value
        else { return .nan }
        return number
      }
      return SensorRow(line: entry.place, time: entry.time, values: values)
    }
    return nil
  }
}
