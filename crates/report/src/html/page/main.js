// Views, address, keys, printing; then the start.
let view = "findings";

function show(name) {
  view = name;
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const on = tab.dataset.view === name;
    tab.setAttribute("aria-selected", String(on));
    byId(`view-${tab.dataset.view}`).hidden = !on;
  }
  if (name === "ledger") { ledger.drawn = ""; ledger.draw(); }
  address.write();
}

// #f/ID/STEP, #ledger, #overview: what is seen can be bookmarked and sent.
const address = {
  quiet: true,
  write() {
    if (this.quiet) return;
    const finding = findings.current;
    const hash = view === "findings" ? (finding ? `#f/${finding.key}/${findings.step + 1}` : "#") : `#${view}`;
    if (hash !== location.hash) history.replaceState(null, "", hash);
  },
  read() {
    this.quiet = true;
    const [name, key, step] = location.hash.slice(1).split("/");
    if (name === "ledger" || name === "overview") show(name);
    else {
      const finding = name === "f" && data.findings.find((other) => other.key === key);
      if (finding) {
        if (!findings.shown.includes(finding)) findings.set({});
        findings.open(finding, Math.max(0, (Number(step) || 1) - 1));
      }
      show("findings");
    }
    this.quiet = false;
  },
};

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("input, select, textarea");
  if (typing) {
    if (event.key !== "Escape") return;
    // Browsers empty a search field on Escape, some without a word.
    event.preventDefault();
    if (typing.type === "search" && typing.value) {
      typing.value = "";
      typing.dispatchEvent(new Event("input"));
    }
    typing.blur();
    return;
  }
  const actions = {
    j: () => view === "findings" && findings.move(1), k: () => view === "findings" && findings.move(-1),
    n: () => view === "findings" && findings.neighbour(1), p: () => view === "findings" && findings.neighbour(-1),
    t: () => theme.toggle(), "?": () => byId("keys").showModal(),
    1: () => show("findings"), 2: () => show("ledger"), 3: () => show("overview"),
    "/": () => { if (view === "overview") show("findings"); byId(view === "ledger" ? "ledger-text" : "find-text").focus(); },
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

// Rows of the ledger on paper; more are counted. Paper is for reading findings.
const PRINTED_ROWS = 400;
const PRINTED_CONTEXT = 3;

function printout() {
  const paper = byId("print");
  paper.replaceChildren(element("h1", null, `drip: ${counted(findings.shown.length, "finding")} in ${data.project}`), element("p", null, data.line));
  for (const finding of findings.shown) {
    const section = element("section", null, element("h2", null, `${finding.rule} `, ...prose(finding.message)),
      element("div", { class: "facts" }, `${data.files[finding.file]}:${finding.line}, in ${finding.function}; confidence ${finding.confidence}; id ${finding.id}`));
    if (finding.condition) section.append(element("p", { class: "when" }, "Happens ", ...prose(finding.condition)));
    section.append(sourceView(placesOf(finding), () => {}, PRINTED_CONTEXT));
    paper.append(section);
  }
  const table = element("table", null, element("tr", null, ...["Verdict", "Place", "Function", "Callee", "Reason"].map((name) => element("th", null, name))));
  for (const row of ledger.shown.slice(0, PRINTED_ROWS)) {
    table.append(element("tr", null, ...[row.verdict, `${row.file}:${row.line}`, row.function, row.callee, row.reason].map((text) => element("td", null, text))));
  }
  const rest = ledger.shown.length - PRINTED_ROWS;
  paper.append(element("h1", null, "Ledger"), table);
  if (rest > 0) paper.append(element("p", null, `${counted(rest, "more row")}: filter the ledger before printing, or use drip ledger.`));
}

function start() {
  theme.apply();
  data.findings.forEach((finding, i) => {
    // Two findings may have one id.
    finding.key = data.findings.findIndex((other) => other.id === finding.id) === i ? finding.id : `${finding.id}.${i}`;
  });
  document.title = `drip: ${counted(data.findings.length, "finding")} in ${data.project}`;
  byId("project").textContent = data.project;
  byId("tab-findings").querySelector("b").textContent = number(data.findings.length);
  byId("tab-ledger").querySelector("b").textContent = number(data.ledger.rows.length);
  findings.start();
  ledger.start();
  overview();
  for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => show(tab.dataset.view));
  byId("theme").addEventListener("click", () => theme.toggle());
  byId("help").addEventListener("click", () => byId("keys").showModal());
  document.addEventListener("keydown", keys);
  window.addEventListener("hashchange", () => address.read());
  window.addEventListener("beforeprint", printout);
  address.read();
  document.documentElement.dataset.ready = "true";
}
start();
