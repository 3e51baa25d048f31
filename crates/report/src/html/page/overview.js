// Counts as small charts; each part leads to what it counts.
const SHOWN_DIRECTORIES = 14;

function overview() {
  const grid = element("div", { class: "over" });
  const { tiles } = data;
  const leaks = data.findings.length;
  grid.append(
    tile(number(leaks), leaks === 1 ? "finding" : "findings", hiddenText(), leaks ? "alarm" : "fine"),
    tile(number(tiles.sites), "allocation sites", `${number(tiles.settled)} freed or handed over`),
    tile(number(tiles.undecided), "undecided sites", "neither proven safe nor leaking"),
    tile(`${number(tiles.filesRead)} / ${number(tiles.filesTotal)}`, "files read", `${counted(tiles.functions, "function")}, ${number(tiles.limited)} hit a limit`,
      tiles.filesRead < tiles.filesTotal ? "alarm" : ""),
  );
  grid.append(verdictCard());
  const rules = tally(data.findings, (finding) => finding.rule).sort();
  grid.append(bars("Findings by rule", rules.map(([code, count]) => ({
    name: `${code} ${data.rules.find((rule) => rule.code === code).short.toLowerCase()}`, count, go: () => { findings.set({ rule: code }); show("findings"); } }))));
  grid.append(bars("Findings by confidence", ["high", "medium", "low"].map((name) => ({
    name, count: data.findings.filter((finding) => finding.confidence === name).length, go: () => { findings.set({ confidence: name }); show("findings"); } }))));
  const directories = tally(data.findings, (finding) => directoryOf(data.files[finding.file]));
  grid.append(bars("Findings by directory", shortened(directories).map(([name, count]) => ({
    name: name || "other directories", count, go: name ? () => { findings.set({ place: `d:${name}` }); show("findings"); } : undefined }))));
  grid.append(siteCard());
  grid.append(element("div", { class: "card wide" }, element("h2", null, "Coverage"), element("p", { class: "coverage" }, data.line)));
  byId("view-overview").append(grid);
}

function hiddenText() {
  const { suppressed, baseline, untouched, deselected } = data.tiles;
  const parts = [[suppressed, "silenced"], [baseline, "in the baseline"], [untouched, "outside of changed lines"], [deselected, "not selected"]];
  const told = parts.filter(([count]) => count).map(([count, why]) => `${number(count)} ${why}`);
  return told.length ? told.join(", ") : "nothing hidden";
}

function tile(big, name, sub, kind) {
  return element("div", { class: `card tile ${kind || ""}` }, element("h2", null, name), element("div", { class: "big" }, big), element("div", { class: "sub" }, sub));
}

function shortened(counts) {
  if (counts.length <= SHOWN_DIRECTORIES) return counts;
  const rest = counts.slice(SHOWN_DIRECTORIES - 1).reduce((sum, [, count]) => sum + count, 0);
  return [...counts.slice(0, SHOWN_DIRECTORIES - 1), ["", rest]];
}

function bars(title, entries) {
  const card = element("div", { class: "card" }, element("h2", null, title));
  const most = Math.max(1, ...entries.map((entry) => entry.count));
  const list = element("div", { class: "bars" });
  for (const { name, count, go } of entries) {
    list.append(element("button", { class: "bar", title: name, onclick: go }, element("span", { class: "name" }, name),
      element("span", { class: "track" }, count ? element("span", { class: "fill", style: `width:${(100 * count) / most}%` }) : null), element("span", { class: "count" }, number(count))));
  }
  if (!entries.length) list.append(element("p", { class: "coverage" }, "none"));
  card.append(list);
  return card;
}

function verdictCard() {
  const counts = tally(ledger.rows, (row) => row.verdict);
  const stack = element("div", { class: "stack" });
  const legend = element("div", { class: "legend" });
  for (const [name, count] of counts) {
    const go = () => { ledger.set({ verdict: name }); show("ledger"); };
    stack.append(element("button", { style: `--v:var(--v-${name});flex:${count}`, title: `${name}: ${number(count)}`, "aria-label": `${name}: ${number(count)}`, onclick: go }));
    legend.append(element("button", { class: "verdict", style: `--v:var(--v-${name})`, onclick: go }, name, element("b", null, number(count))));
  }
  return element("div", { class: "card wide" }, element("h2", null, "What becomes of the allocation sites"), stack, legend);
}

// Sites per directory, with their verdicts.
function siteCard() {
  const card = element("div", { class: "card" }, element("h2", null, "Allocation sites by directory"));
  const byDirectory = tally(ledger.rows, (row) => directoryOf(row.file));
  const most = Math.max(1, ...byDirectory.map(([, count]) => count));
  const list = element("div", { class: "bars" });
  for (const [name, count] of byDirectory.slice(0, SHOWN_DIRECTORIES)) {
    const verdicts = tally(ledger.rows.filter((row) => directoryOf(row.file) === name), (row) => row.verdict);
    const track = element("span", { class: "track" });
    for (const [verdict, part] of verdicts) track.append(element("span", { class: "fill", style: `background:var(--v-${verdict});width:${(100 * part) / most}%;min-width:0` }));
    list.append(element("button", { class: "bar", title: name, onclick: () => { ledger.set({ place: `d:${name}` }); show("ledger"); } },
      element("span", { class: "name" }, name), track, element("span", { class: "count" }, number(count))));
  }
  card.append(list);
  return card;
}
