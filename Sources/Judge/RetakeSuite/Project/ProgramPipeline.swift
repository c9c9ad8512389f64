import Foundation
package import RetakeCore
import RetakeGraph
import RetakeStages

/// A program as a pipeline: a source, the program, and a sink for each sink of the program.
///
/// The name of such a pipeline is `program:` and the command as in a shell, or the options of the
/// node as a JSON object.
package struct ProgramPipeline: Hashable, Sendable {
  package static let prefix = "program:"
  /// The name of each such pipeline in its document.
  static let documentName = "program"

  /// The options of the node `program`.
  package var options: [String: JSONValue]

  /// - Throws: `SuiteError.badProgram`.
  package init(command: String) throws {
    options = try Self.options(ofCommand: command)
  }

  private static func options(ofCommand text: String) throws -> [String: JSONValue] {
    ["command": .array(try words(of: text).map(JSONValue.string))]
  }

  package init(options: [String: JSONValue]) { self.options = options }

  /// - Parameter name: Begins with `prefix`.
  /// - Throws: `SuiteError.badProgram`.
  init(name: String) throws {
    let text = String(name.dropFirst(Self.prefix.count))
    guard text.hasPrefix("{") else {
      options = try Self.options(ofCommand: text)
      return
    }
    guard case .object(let members)? = try? JSONValue(parsing: Data(text.utf8)) else {
      throw SuiteError.badProgram(text, problem: "it is not a JSON object")
    }
    options = members
  }

  /// The name of the pipeline.
  package var name: String { Self.prefix + JSONValue.object(options).canonicalText }

  /// The program as the command names it; empty if the options have no command.
  package var program: String {
    guard case .array(let words)? = options["command"], case .string(let name)? = words.first else {
      return ""
    }
    return name
  }

  /// The command with its arguments.
  private var words: String {
    guard case .array(let words)? = options["command"] else { return program }
    return words.compactMap { if case .string(let word) = $0 { word } else { nil } }
      .joined(separator: " ")
  }

  /// Starts the program to find its sinks, and makes the pipeline.
  ///
  /// - Throws: `PipelineError`.
  func pipeline(_ catalog: StageRegistry) throws -> Pipeline {
    var options = options
    options["output"] = .string("program")
    // Held until the document is read, which then uses the same copy of the program.
    let stage: AnyStage
    do {
      stage = try catalog.make(kind: AnyStage.processKind, options: .object(options))
    } catch let error as OptionProblem {
      throw placed(PipelineError(error, at: error.pointer))
    }
    let document = Self.document(stage.programSinks ?? [], options).canonicalText
    return try withExtendedLifetime(stage) {
      do {
        return try PipelineDocument.parse(Data(document.utf8), catalog: catalog, file: nil)
      } catch let error as PipelineError {
        throw placed(error)
      }
    }
  }

  /// The user wrote a command or its options, and no document into which a JSON pointer could lead.
  private func placed(_ error: PipelineError) -> PipelineError {
    var error = error
    let option = error.pointer.split(separator: "/").last.map { ", '\($0)'" } ?? ""
    error.part = "program '\(words)'\(option)"
    return error
  }

  private static func document(_ sinks: [String], _ options: [String: JSONValue]) -> JSONValue {
    // IDs that no sink of the program has.
    let source = free("camera", sinks)
    let program = free("program", sinks)
    func node(_ id: String, _ kind: String) -> [String: JSONValue] {
      ["id": .string(id), "kind": .string(kind)]
    }
    func edge(_ from: String, _ to: String) -> JSONValue {
      .object(["from": .string(from), "to": .string(to)])
    }
    let nodes =
      [node(source, AnyStage.sessionKind)]
      + [node(program, AnyStage.processKind).merging(["options": .object(options)]) { $1 }]
      + sinks.map { node($0, "results") }
    return JSONValue.object([
      "v": .integer(1), "name": .string(documentName),
      "nodes": .array(nodes.map(JSONValue.object)),
      "edges": .array([edge(source, program)] + sinks.map { edge(program, $0) }),
    ])
  }

  private static func free(_ id: String, _ taken: [String]) -> String {
    taken.contains(id) ? "retake-\(id)" : id
  }
}

extension ProgramPipeline {
  /// The words of a command as a shell reads them. Of the shell's syntax, only quotes and
  /// backslashes have an effect.
  ///
  /// - Throws: `SuiteError.badProgram`.
  static func words(of command: String) throws -> [String] {
    var reader = WordReader()
    for character in command { reader.read(character) }
    guard !reader.isOpen else {
      throw SuiteError.badProgram(command, problem: "a quote has no end")
    }
    let words = reader.finish()
    guard let first = words.first, !first.isEmpty else {
      throw SuiteError.badProgram(command, problem: "it names no program")
    }
    return words
  }

  private struct WordReader {
    private var words: [String] = []
    /// `nil` between two words.
    private var word: String?
    private var quote: Character?
    private var isEscaped = false

    /// Whether the command cannot end here.
    var isOpen: Bool { quote != nil || isEscaped }

    mutating func read(_ character: Character) {
      if isEscaped {
        // In double quotes a backslash is kept before other characters.
        let isKept = quote == "\"" && !"\"\\$`".contains(character)
        word = (word ?? "") + (isKept ? "\\" : "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
        word = word ?? ""
      } else if character == quote {
        quote = nil
      } else if quote == nil, character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if quote == nil, character.isWhitespace {
        end()
      } else {
        word = (word ?? "") + String(character)
      }
    }

    mutating func finish() -> [String] {
      end()
      return words
    }

    private mutating func end() {
      if let word { words.append(word) }
      word = nil
    }
  }
}
