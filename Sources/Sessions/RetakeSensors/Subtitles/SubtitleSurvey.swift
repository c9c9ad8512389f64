import RetakeCore

/// The fields of all entries: which are numbers, and in which units.
struct SubtitleSurvey {
  private let file: String
  private let columns: [String]
  private var fields: [Field] = []
  private var places: [String: Int] = [:]

  private struct Field {
    var name: String
    var unit: String?
    /// The error of the first value that is not a number, or has another unit.
    var problem: SensorError?
  }

  /// Different names of a file's fields.
  private static let fieldsMax = 1_024
  /// Longer lists of units are not stored.
  private static let unitBytesMax = 256

  init(file: String, columns: [String]) {
    (self.file, self.columns) = (file, columns)
  }

  /// The fields of an entry, each once.
  ///
  /// - Parameter columns: The fields that are read; empty for all.
  /// - Throws: `SensorError`.
  static func fields(
    of entry: SubtitleEntry, _ entries: any SubtitleEntries, columns: [String]
  ) throws -> [SubtitleField] {
    var fields: [SubtitleField]
    do {
      fields = try SubtitleScanner.fields(of: entry)
    } catch {
      throw entries.damage(error, in: entry)
    }
    let all = fields
    if !columns.isEmpty { fields.removeAll { !columns.contains($0.name) } }
    if let field = fields.first(where: { !$0.isInRange }) {
      throw entries.damage(
        SubtitleProblem(
          place: field.place, problem: "the \(field.name) is not a place; longitude comes first"),
        in: entry)
    }
    if let name = fields.map(\.name).firstRepeated {
      let place = fields.last { $0.name == name }?.place ?? 0
      throw entries.damage(
        SubtitleProblem(place: place, problem: "its entry has '\(name)' twice"), in: entry)
    }
    return all
  }

  mutating func take(_ entry: SubtitleEntry, _ entries: any SubtitleEntries) throws {
    for field in try Self.fields(of: entry, entries, columns: columns) {
      func damage(_ problem: String) -> SensorError {
        entries.damage(SubtitleProblem(place: field.place, problem: problem), in: entry)
      }
      let place = places[field.name] ?? fields.count
      if place == fields.count {
        guard fields.count < Self.fieldsMax else {
          throw damage("the entries have more than \(Self.fieldsMax) different fields")
        }
        places[field.name] = place
        fields.append(Field(name: field.name))
      }
      switch field.value {
      case .missing: break
      case .text(let text):
        fields[place].problem =
          fields[place].problem
          ?? damage("'\(text.prefix(40))' is not a number; it is the \(field.name)")
      case .number(_, let unit):
        if let before = fields[place].unit, before != unit {
          fields[place].problem =
            fields[place].problem
            ?? damage("the \(field.name) is in '\(unit)', and in '\(before)' before")
        }
        fields[place].unit = fields[place].unit ?? unit
      }
    }
  }

  /// The fields that are numbers, in the order in which they were found, or the chosen fields.
  ///
  /// - Throws: `SensorError` for a field that is a number in some entries and a word in others, or
  ///   has several units.
  func channels() throws -> [String] {
    for name in columns where places[name] == nil {
      throw SensorError.noColumn(file: file, name: name, known: fields.map(\.name))
    }
    let chosen = columns.isEmpty ? fields.filter { $0.unit != nil }.map(\.name) : columns
    for field in chosen.compactMap({ places[$0] }).map({ fields[$0] }) {
      if let problem = field.problem { throw problem }
    }
    return chosen
  }

  /// Fields without a number.
  var leftOut: [String] { fields.filter { $0.unit == nil }.map(\.name) }

  /// The unit of each channel, `1` for a plain number; one unit if all have the same.
  func unit(of channels: [String]) -> String {
    let units = channels.map { name in places[name].flatMap { fields[$0].unit } ?? "1" }
    if Set(units).count == 1 { return units[0] == "1" ? "" : units[0] }
    let list = units.joined(separator: ",")
    return list.utf8.count <= Self.unitBytesMax ? list : ""
  }
}
