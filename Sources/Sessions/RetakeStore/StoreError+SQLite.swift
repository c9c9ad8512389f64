import GRDB
import RetakeCore

/// Runs `body` and converts any error of SQLite to a `StoreError`.
func storeErrors<Value>(
  at path: String, writing: Bool, _ body: () throws -> Value
) throws -> Value {
  do {
    return try body()
  } catch let error as StoreError {
    throw error
  } catch let damage as RowDamage {
    throw StoreError.corrupt(path: path, cause: damage.cause)
  } catch let error as DatabaseError {
    let cause = error.message ?? "SQLite code \(error.resultCode.rawValue)"
    switch error.resultCode {
    case .SQLITE_CORRUPT: throw StoreError.corrupt(path: path, cause: cause)
    case .SQLITE_NOTADB: throw StoreError.notSession(path: path, cause: cause)
    case .SQLITE_BUSY, .SQLITE_LOCKED:
      throw StoreError.busy(path: path, holder: LockHolder.ofDatabase(path))
    // Only `SchemaReadLimit` interrupts a statement.
    case .SQLITE_INTERRUPT: throw StoreError.schemaUnknown(path: path, object: "sqlite_schema")
    case .SQLITE_FULL: throw StoreError.diskFull(path: path)
    case .SQLITE_NOMEM where AddressSpaceLimit.isCauseOfRefusal:
      throw StoreError.noMemory(path: path)
    // The limit of a value's size, or of SQLite's memory, which no true session reaches.
    case .SQLITE_NOMEM, .SQLITE_TOOBIG:
      throw StoreError.corrupt(path: path, cause: "a value is larger than a session's ever is")
    default:
      throw writing
        ? StoreError.writeFailed(path: path, cause: cause) : .readFailed(path: path, cause: cause)
    }
  } catch {
    // Such as a copy of the file, by Foundation.
    if error.isFullDisk { throw StoreError.diskFull(path: path) }
    throw writing
      ? StoreError.writeFailed(path: path, cause: error.causeText)
      : .readFailed(path: path, cause: error.causeText)
  }
}
