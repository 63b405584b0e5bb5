// How the search ranks what it finds: as Sphinx does, except that of objects with one name those
// nearest to the top come first: bayesmodels.sample before the methods that many classes have.
var Scorer = {
  score: ([docname, title, anchor, descr, score, filename, kind]) =>
    kind === "object" ? score - title.split(".").length : score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
