// The list of findings, its filters, and one finding with its path.
const findings = {
  text: "", place: "", rules: new Set(), confidence: new Set(),
  shown: [], current: null, step: 0, places: [],

  start() {
    for (const finding of data.findings) {
      const words = [finding.message, finding.function, data.files[finding.file], finding.id, finding.condition || "", finding.rule,
        ...finding.steps.map((step) => step[6])];
      finding.words = words.join("\n").toLowerCase();
    }
    placeOptions(byId("find-file"), data.findings.map((finding) => data.files[finding.file]), true);
    const refresh = () => this.filter();
    for (const [code, count] of tally(data.findings, (finding) => finding.rule).sort()) {
      const made = chip(code, count, code, this.rules, refresh);
      made.title = data.rules.find((rule) => rule.code === code).short;
      byId("find-rules").append(made);
    }
    const order = { high: 0, medium: 1, low: 2 };
    for (const [name, count] of tally(data.findings, (finding) => finding.confidence).sort((a, b) => order[a[0]] - order[b[0]])) {
      byId("find-confidence").append(chip(name, count, name, this.confidence, refresh));
    }
    byId("find-text").addEventListener("input", (event) => { this.text = event.target.value.trim().toLowerCase(); refresh(); });
    byId("find-file").addEventListener("change", (event) => { this.place = event.target.value; refresh(); });
    byId("find-clear").addEventListener("click", () => this.set({}));
    this.filter();
  },

  // Replaces all filters, as the charts of the overview do.
  set({ rule, confidence, place }) {
    this.text = "";
    byId("find-text").value = "";
    this.place = byId("find-file").value = place || "";
    this.rules.clear();
    this.confidence.clear();
    if (rule) this.rules.add(rule);
    if (confidence) this.confidence.add(confidence);
    for (const made of document.querySelectorAll("#find-rules .chip, #find-confidence .chip")) {
      made.setAttribute("aria-pressed", String(this.rules.has(made.dataset.key) || this.confidence.has(made.dataset.key)));
    }
    this.filter();
  },

  accepts(finding) {
    return (!this.rules.size || this.rules.has(finding.rule))
      && (!this.confidence.size || this.confidence.has(finding.confidence))
      && liesAt(data.files[finding.file], this.place)
      && this.text.split(/\s+/).every((word) => finding.words.includes(word));
  },

  filter() {
    this.shown = data.findings.filter((finding) => this.accepts(finding));
    const list = byId("find-list");
    list.replaceChildren();
    let file = null;
    for (const finding of this.shown) {
      if (finding.file !== file) {
        file = finding.file;
        const count = this.shown.filter((other) => other.file === file).length;
        list.append(element("div", { class: "group" }, element("span", { title: data.files[file] }, element("bdi", { dir: "ltr" }, data.files[file])), element("span", null, String(count))));
      }
      list.append(this.item(finding));
    }
    if (!this.shown.length) list.append(this.nothing());
    const filtered = this.shown.length !== data.findings.length;
    byId("find-shown").textContent = filtered ? `${number(this.shown.length)} of ${counted(data.findings.length, "finding")}` : counted(data.findings.length, "finding");
    byId("find-clear").hidden = !filtered;
    if (!this.shown.includes(this.current)) this.open(this.shown[0] || null, 0);
    else this.markCurrent();
  },

  nothing() {
    return data.findings.length
      ? element("div", { class: "empty" }, element("strong", null, "Nothing matches"), "Take a filter away.")
      : element("div", { class: "empty" }, element("strong", null, "No leaks found"), "The ledger tells what became of every allocation.");
  },

  item(finding) {
    const what = element("span", { class: "what" }, element("span", { class: `badge ${finding.confidence}` }, finding.rule), ...prose(finding.message));
    const where = element("span", { class: "where" }, element("code", null, finding.function), ` line ${finding.line}`);
    return element("button", { class: "item", role: "listitem", "data-id": finding.key, onclick: () => this.open(finding, 0) }, what, where);
  },

  markCurrent() {
    for (const item of byId("find-list").querySelectorAll(".item")) {
      item.setAttribute("aria-current", String(Boolean(this.current) && item.dataset.id === this.current.key));
    }
  },

  open(finding, step) {
    this.current = finding;
    this.markCurrent();
    const item = finding && byId("find-list").querySelector(`[data-id="${finding.key}"]`);
    if (item) item.scrollIntoView({ block: "nearest" });
    const detail = byId("detail");
    detail.replaceChildren();
    if (!finding) {
      detail.append(this.nothing());
      return;
    }
    this.places = placesOf(finding);
    detail.append(this.header(finding), this.walk(finding));
    this.go(step);
  },

  header(finding) {
    const about = element("div", { class: "about", hidden: true });
    const rule = data.rules.find((other) => other.code === finding.rule);
    about.append(element("p", null, element("strong", null, `${rule.code}: ${rule.short}. `), ...prose(rule.full)), element("p", null, ...prose(rule.advice)),
      element("div", { class: "pair" }, element("pre", null, rule.bad), element("pre", { class: "good" }, rule.good)));
    const command = `drip explain ${finding.id}`;
    const copy = element("button", { title: "Copy the command" }, element("code", null, command));
    copy.addEventListener("click", () => {
      // Without permission the command can still be read.
      if (navigator.clipboard) navigator.clipboard.writeText(command).then(() => { copy.textContent = "copied"; }, () => {});
    });
    const facts = element("div", { class: "facts" },
      element("span", null, element("code", null, `${data.files[finding.file]}:${finding.line}`)),
      element("span", null, "in ", element("code", null, finding.function)),
      element("span", null, `confidence ${finding.confidence}`),
      finding.release ? element("span", null, "released by ", element("code", null, finding.release)) : null,
      element("button", { onclick: () => { about.hidden = !about.hidden; } }, `about ${finding.rule}`), copy);
    const header = element("header", null, element("h1", null, element("span", { class: `badge ${finding.confidence}` }, finding.rule), ...prose(finding.message)), facts);
    if (finding.condition) header.append(element("p", { class: "when" }, "Happens ", ...prose(finding.condition)));
    header.append(about);
    return header;
  },

  walk(finding) {
    const source = element("div", { class: "source", tabindex: "0" }, sourceView(this.places, (place) => this.go(this.places.indexOf(place))));
    const steps = element("div", { class: "steps" });
    const nav = element("span", { class: "nav" }, element("button", { title: "previous (k)", "aria-label": "previous step", onclick: () => this.move(-1) }, "↑"), " ",
      element("button", { title: "next (j)", "aria-label": "next step", onclick: () => this.move(1) }, "↓"));
    steps.append(element("h2", null, "Path", nav), element("div", { id: "steps" }), element("div", { class: "state", id: "state" }));
    const list = steps.querySelector("#steps");
    const extra = steps.appendChild(element("div"));
    this.places.forEach((place, i) => {
      if (place.kind === "from" && !extra.childElementCount) extra.append(element("h2", null, "Where the block comes from"));
      (place.kind === "from" ? extra : list).append(this.stepButton(place, i));
    });
    return element("div", { class: "walk" }, source, steps);
  },

  stepButton(place, i) {
    const number = element("span", { class: `num ${place.kind}` }, place.number ? String(place.number) : place.kind === "lost" ? "✕" : "·");
    const words = element("span", null, ...prose(place.text), element("span", { class: "at" }, `${data.files[place.file]}:${place.line}`));
    return element("button", { class: "step", "data-step": i, onclick: () => this.go(i) }, number, words);
  },

  // Shows one step: the list, the state after it, and the line.
  go(step) {
    if (!this.places[step]) return;
    this.step = step;
    const place = this.places[step];
    for (const button of document.querySelectorAll(".step")) button.setAttribute("aria-current", Number(button.dataset.step) === step ? "step" : "false");
    for (const note of document.querySelectorAll(".source .note")) note.classList.toggle("now", note.dataset.place === place.key);
    for (const line of document.querySelectorAll(".source .ln.now")) line.classList.remove("now");
    const note = document.querySelector(`.source .note[data-place="${place.key}"]`);
    if (note) {
      let line = note.previousElementSibling;
      while (line && !line.classList.contains("ln")) line = line.previousElementSibling;
      if (line) line.classList.add("now");
      const source = document.querySelector(".source");
      const top = note.getBoundingClientRect().top - source.getBoundingClientRect().top + source.scrollTop;
      source.scrollTo({ top: Math.max(0, top - source.clientHeight * .4), left: 0 });
    }
    const button = document.querySelector(`.step[data-step="${step}"]`);
    if (button) button.scrollIntoView({ block: "nearest" });
    byId("state").replaceChildren(stateAt(this.current, this.places, step));
    address.write();
  },

  // Along the numbered path only.
  move(by) {
    const path = this.places.filter((place) => place.number);
    const at = path.indexOf(this.places[this.step]);
    const next = path[at < 0 ? 0 : Math.min(path.length - 1, Math.max(0, at + by))];
    if (next) this.go(this.places.indexOf(next));
  },

  neighbour(by) {
    const at = this.shown.indexOf(this.current);
    const next = this.shown[at + by];
    if (next) this.open(next, 0);
  },
};

// Steps of the path, other losing points, and the allocation chain below the first call.
function placesOf(finding) {
  const place = ([kind, file, line, from, to, fn, text], number, key) => ({ kind, file, line, from, to, fn, text, number, key });
  return [...finding.steps.map((step, i) => place(step, i + 1, `s${i}`)), ...finding.lost.map((step, i) => place(step, 0, `l${i}`)),
    ...finding.chain.map((step, i) => place(step, 0, `c${i}`))];
}

// What is known once a step is done: the block, who holds it, the conditions so far.
function stateAt(finding, places, step) {
  const place = places[step];
  const list = element("dl");
  const add = (name, ...value) => list.append(element("dt", null, name), element("dd", null, ...value));
  const before = place.number ? places.slice(0, step + 1).filter((other) => other.number) : [];
  const kinds = before.map((other) => other.kind);
  if (place.kind === "from") add("Block", "made here, inside of the callee");
  else if (place.kind === "lost") add("Block", element("span", { class: "lost" }, "lost"), " – allocated, and nothing refers to it any more");
  else if (!kinds.includes("allocation")) add("Block", "not allocated yet");
  else if (finding.variable) add("Block", element("span", { class: "alive" }, "allocated"), ", held by ", element("code", null, finding.variable));
  else add("Block", element("span", { class: "alive" }, "allocated"));
  const conditions = before.filter((other) => other.kind === "branch");
  if (conditions.length) {
    const known = conditions.map((other) => prose(other.text.replace(/^taken when /, "")));
    add("Known so far", ...known.flatMap((parts, i) => (i ? [element("br"), ...parts] : parts)));
  }
  add("In function", element("code", null, place.fn || "?"));
  return list;
}
