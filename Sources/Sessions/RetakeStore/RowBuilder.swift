import Foundation
import GRDB
import RetakeCore

/// Collects a row's values in the order of the columns.
struct RowBuilder {
  private(set) var values: [DatabaseValue] = []

  mutating func add(_ value: Int?) { values.append(value?.databaseValue ?? .null) }
  mutating func add(_ value: Int64?) { values.append(value?.databaseValue ?? .null) }
  mutating func add(_ value: String?) { values.append(value?.databaseValue ?? .null) }
  mutating func add(_ value: Bool) { values.append((value ? 1 : 0).databaseValue) }
  mutating func add(_ value: [UInt8]?) {
    values.append(value.map { Data($0).databaseValue } ?? .null)
  }
  mutating func add(_ value: Digest128?) { add(value?.bytes) }

  static func build(_ body: (inout RowBuilder) -> Void) -> [DatabaseValue] {
    var builder = RowBuilder()
    body(&builder)
    return builder.values
  }
}
