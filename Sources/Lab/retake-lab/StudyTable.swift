import RetakeBench
import RetakeCore

/// Rows of named cells, which become both a table for people and an array of objects.
struct StudyTable {
  struct Column {
    /// For people.
    var heading: String
    /// Of the JSON member.
    var key: String
    var isWord = false

    init(_ heading: String, key: String? = nil, isWord: Bool = false) {
      (self.heading, self.key, self.isWord) = (heading, key ?? heading, isWord)
    }

    static func word(_ heading: String) -> Column { Column(heading, isWord: true) }
  }

  enum Cell {
    case word(String)
    case count(Int)
    /// A number of the last place: 1644 with two places is 16.44.
    case decimal(Int, places: Int, unit: String = "")
    case milliseconds(Int)
    /// Percent with its sign.
    case change(Int)
    /// There is no such number.
    case none

    /// Hundredths of a percent.
    static func share(_ perTenThousand: Int) -> Cell {
      .decimal(perTenThousand, places: 2, unit: " %")
    }

    /// Hundredths.
    static func mean(_ hundredths: Int) -> Cell { .decimal(hundredths, places: 2) }

    var text: String {
      switch self {
      case .word(let word): word
      case .count(let count): "\(count)"
      case .decimal(let value, let places, let unit):
        FixedPoint.padded(value, digits: places) + unit
      case .milliseconds(let time): "\(time) ms"
      case .change(let percent): "\(percent > 0 ? "+" : "")\(percent) %"
      case .none: "-"
      }
    }

    var json: JSONValue {
      switch self {
      case .word(let word): .string(word)
      case .count(let count): .integer(Int64(count))
      case .decimal(let value, let places, _): .number(Double(value) / (places == 1 ? 10 : 100))
      case .milliseconds(let count), .change(let count): .integer(Int64(count))
      case .none: .null
      }
    }
  }

  var columns: [Column]
  var rows: [[Cell]] = []

  var lines: [String] {
    TextTable(
      headings: columns.map(\.heading), rows: rows.map { $0.map(\.text) },
      wordColumns: Set(columns.indices.filter { columns[$0].isWord })
    ).lines
  }

  /// Numbers as numbers, without units, which the keys name.
  var json: JSONValue {
    .array(
      rows.map { row in
        .object(Dictionary(zip(columns.map(\.key), row.map(\.json))) { first, _ in first })
      })
  }
}
