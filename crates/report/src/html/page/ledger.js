// Every allocation site. Only the rows in sight are in the document, so that 100,000 of them scroll as well as ten.
const ROW = 30;
const COLUMNS = [["Verdict", "verdict"], ["Place", "place"], ["Function", "function"], ["Callee", "callee"], ["Code", "code"], ["Reason", "reason"]];

const ledger = {
  rows: [], shown: [], text: "", place: "", verdicts: new Set(), sort: null, down: false, drawn: "",

  start() {
    const { functions, callees, reasons, verdicts, rows } = data.ledger;
    this.rows = rows.map(([file, line, column, fn, callee, verdict, reason, code], index) => ({
      file: data.files[file], line, column, function: functions[fn], callee: callees[callee], verdict: verdicts[verdict], reason: reasons[reason], code, index,
    }));
    this.at = new Map(data.findings.map((finding) => [`${data.files[finding.file]}:${finding.line}:${finding.column}`, finding]));
    placeOptions(byId("ledger-dir"), this.rows.map((row) => row.file), false);
    const refresh = () => this.filter();
    for (const [name, count] of tally(this.rows, (row) => row.verdict)) {
      byId("ledger-verdicts").append(chip(name, count, name, this.verdicts, refresh, `var(--v-${name})`));
    }
    for (const [label, key] of COLUMNS) {
      byId("ledger-columns").append(element("button", { role: "columnheader", "data-sort": key, onclick: () => this.sortBy(key) }, label));
    }
    let waiting = 0;
    byId("ledger-text").addEventListener("input", (event) => {
      this.text = event.target.value.trim().toLowerCase();
      clearTimeout(waiting);
      waiting = setTimeout(refresh, this.rows.length > 20000 ? 120 : 0);
    });
    byId("ledger-dir").addEventListener("change", (event) => { this.place = event.target.value; refresh(); });
    byId("ledger-scroll").addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(byId("ledger-scroll"));
    this.filter();
  },

  set({ verdict, place }) {
    this.text = byId("ledger-text").value = "";
    this.place = byId("ledger-dir").value = place || "";
    this.verdicts.clear();
    if (verdict) this.verdicts.add(verdict);
    for (const made of document.querySelectorAll("#ledger-verdicts .chip")) made.setAttribute("aria-pressed", String(this.verdicts.has(made.dataset.key)));
    this.filter();
  },

  words(row) {
    row.words ||= `${row.file}:${row.line} ${row.function} ${row.callee} ${row.reason} ${row.code} ${row.verdict}`.toLowerCase();
    return row.words;
  },

  filter() {
    const words = this.text.split(/\s+/).filter(Boolean);
    this.shown = this.rows.filter((row) => (!this.verdicts.size || this.verdicts.has(row.verdict)) && liesAt(row.file, this.place)
      && words.every((word) => this.words(row).includes(word)));
    if (this.sort) this.order();
    const all = counted(this.rows.length, "allocation site");
    byId("ledger-shown").textContent = this.shown.length === this.rows.length ? all : `${number(this.shown.length)} of ${all}`;
    byId("ledger-space").style.height = `${Math.max(1, this.shown.length) * ROW}px`;
    byId("ledger-scroll").scrollTop = 0;
    this.drawn = "";
    this.draw();
  },

  sortBy(key) {
    this.down = this.sort === key ? !this.down : false;
    this.sort = key;
    for (const button of byId("ledger-columns").children) {
      if (button.dataset.sort === key) button.setAttribute("aria-sort", this.down ? "descending" : "ascending");
      else button.removeAttribute("aria-sort");
    }
    this.filter();
  },

  order() {
    const sign = this.down ? -1 : 1;
    const key = this.sort;
    // Rows come in the order of their places.
    const value = key === "place" ? (row) => row.index : (row) => row[key];
    this.shown.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return (x < y ? -sign : x > y ? sign : a.index - b.index);
    });
  },

  draw() {
    const scroll = byId("ledger-scroll");
    if (!scroll.clientHeight) return;
    const first = Math.max(0, Math.floor(scroll.scrollTop / ROW) - 10);
    const last = Math.min(this.shown.length, Math.ceil((scroll.scrollTop + scroll.clientHeight) / ROW) + 10);
    const what = `${first}-${last}`;
    if (what === this.drawn) return;
    this.drawn = what;
    const rows = byId("ledger-rows");
    rows.style.transform = `translateY(${first * ROW}px)`;
    rows.replaceChildren(...this.shown.slice(first, last).map((row) => this.row(row)));
    if (!this.shown.length) rows.replaceChildren(element("div", { class: "empty" }, element("strong", null, "No such allocation"), "Take a filter away."));
  },

  row(row) {
    const finding = row.verdict === "leak" ? this.at.get(`${row.file}:${row.line}:${row.column}`) : null;
    const cell = (text, kind) => element("span", { class: kind, title: text, role: "cell" }, ...this.hits(text));
    const open = finding ? () => { findings.set({}); findings.open(finding, 0); show("findings"); } : undefined;
    return element("div", { class: finding ? "row body leak" : "row body", role: "row", onclick: open },
      element("span", { class: "verdict", style: `--v:var(--v-${row.verdict})`, role: "cell" }, row.verdict), this.where(row),
      cell(row.function, "mono"), cell(row.callee, "mono"), cell(row.code, "mono"), cell(row.reason, ""));
  },

  // The end of a path tells more than its start: it is cut on the left.
  where(row) {
    const text = `${row.file}:${row.line}`;
    return element("span", { class: "mono where", title: text, role: "cell" }, element("bdi", { dir: "ltr" }, ...this.hits(text)));
  },

  // The searched word, marked.
  hits(text) {
    const word = this.text.split(/\s+/)[0];
    const at = word ? text.toLowerCase().indexOf(word) : -1;
    if (at < 0) return [text];
    return [text.slice(0, at), element("span", { class: "hit" }, text.slice(at, at + word.length)), text.slice(at + word.length)];
  },
};
