/// The annexes of this program: one for each trait that the package is built with.
enum Annexes {
  static var all: [any Annex.Type] {
    var all: [any Annex.Type] = []
    #if Bags
      all.append(BagsAnnex.self)
    #endif
    #if Models
      all.append(ModelsAnnex.self)
    #endif
    #if Serve
      all.append(ServeAnnex.self)
    #endif
    #if Window
      all.append(WindowAnnex.self)
    #endif
    return all
  }
}
