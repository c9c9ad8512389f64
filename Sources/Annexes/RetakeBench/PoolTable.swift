import RetakeCore
import RetakeRuntime

/// The figures of every pool under every load.
package struct PoolTable: Sendable {
  package var rows: [PoolFigures]

  /// - Parameter isInterrupted: Checked between trials.
  package init(
    _ loads: [PoolLoad], _ contenders: [PoolContender], isInterrupted: () -> Bool = { false }
  ) throws {
    rows = []
    for load in loads {
      for contender in contenders {
        if isInterrupted() { throw RuntimeError.interrupted }
        rows.append(try PoolTrial(load, contender).run())
      }
    }
  }

  private static let headings = [
    "load", "pool", "stalls", "", "mean", "sizes", "mean MB", "peak MB", "used", "busiest", "most",
    "resizes",
  ]

  /// A table for people, in columns.
  package var text: String {
    text(headings: Self.headings, wordColumns: [0, 1, Self.headings.count - 1], Self.cells)
  }

  /// A table for people about cameras that wait for a buffer, in columns.
  package var waitsText: String {
    text(headings: PoolWaits.headings, wordColumns: [0, 1]) { row in
      [
        row.load, row.pool, "\(row.stalls)",
        FixedPoint.padded(row.stallsPerTenThousand, digits: 2) + " %",
      ] + (row.waits?.cells ?? PoolWaits.cells(withoutWait: row)) + [
        FixedPoint.padded(row.meanBuffersHundredths, digits: 2)
      ]
    }
  }

  private func text(
    headings: [String], wordColumns: Set<Int>, _ cells: (PoolFigures) -> [String]
  ) -> String {
    var lines = TextTable(
      headings: headings, rows: rows.map(cells), wordColumns: wordColumns
    ).lines
    // From the end, because an inserted line shifts all later places.
    for index in rows.indices.reversed() where index > 0 && rows[index].load != rows[index - 1].load
    {
      lines.insert("", at: index + 1)
    }
    return lines.joined(separator: "\n")
  }

  private static func cells(_ row: PoolFigures) -> [String] {
    [
      row.load, row.pool, "\(row.stalls)",
      FixedPoint.padded(row.stallsPerTenThousand, digits: 2) + " %",
      FixedPoint.padded(row.meanBuffersHundredths, digits: 2),
      "\(row.fewestBuffers)-\(row.peakBuffers)",
      TextTable.megabytes(row.meanBytes),
      TextTable.megabytes(row.peakBytes),
      FixedPoint.padded(row.usedPermille, digits: 1) + " %",
      FixedPoint.padded(row.busiestPermille, digits: 1) + " %",
      "\(row.peakUsed)",
      "\(row.resizes)" + (row.isBroken ? " breaker" : ""),
    ]
  }
}
