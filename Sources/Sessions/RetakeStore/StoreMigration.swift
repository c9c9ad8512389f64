/// Copies a database to the current schema.
package enum StoreMigration {
  package static let version = Int(Schema.version)

  /// Copies every row of a closed database, whatever its schema, to a new one at `path`.
  package static func copy(_ reader: StoreReader, to path: String) throws {
    let writer = try StoreWriter(building: path)
    try writer.copy(SegmentRecord.self, from: reader)
    try writer.copy(SegmentTrackRecord.self, from: reader)
    try writer.copy(PacketRecord.self, from: reader)
    try writer.copy(FrameRecord.self, from: reader)
    try writer.copy(FileRecord.self, from: reader)
    try writer.copyAccounts(from: reader)
    try writer.close()
  }
}
