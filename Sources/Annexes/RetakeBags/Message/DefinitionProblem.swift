/// A definition that cannot be read, or a type that is not made of numbers.
struct DefinitionProblem: Error, Hashable {
  var cause: String
}
