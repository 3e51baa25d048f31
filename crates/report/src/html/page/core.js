// What all views share: the data, elements made by hand, the address, the theme.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

// element("button", { class: "chip", onclick: f }, "text", other)
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// Text in which `code` stands between backticks.
function prose(text) {
  const parts = text.split("`");
  // An odd backtick is a backtick.
  if (parts.length % 2 === 0) return [text];
  return parts.map((part, i) => (i % 2 ? element("code", null, part) : part));
}

const number = (value) => value.toLocaleString("en-US");
const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

function directoryOf(file) {
  const at = file.lastIndexOf("/");
  return at < 0 ? "." : file.slice(0, at);
}

// How often each key occurs, largest first, then by name.
function tally(items, key) {
  const counts = new Map();
  for (const item of items) counts.set(key(item), (counts.get(key(item)) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

// A button that is on or off; `chosen` is the set that it changes.
function chip(label, count, key, chosen, changed, color) {
  const dot = color ? element("span", { class: "dot", style: `background:${color}` }) : null;
  const made = element("button", { class: "chip", "data-key": key, "aria-pressed": String(chosen.has(key)) },
    dot, label, element("i", null, number(count)));
  made.addEventListener("click", () => {
    if (!chosen.delete(key)) chosen.add(key);
    made.setAttribute("aria-pressed", String(chosen.has(key)));
    changed();
  });
  return made;
}

// Choices of a select: everything, directories, and files if wanted.
function placeOptions(select, files, withFiles) {
  const directories = tally(files, directoryOf).sort((a, b) => (a[0] < b[0] ? -1 : 1));
  select.append(element("option", { value: "" }, withFiles ? "All files" : "All directories"));
  const group = element("optgroup", { label: "Directories" });
  for (const [name, count] of directories) {
    group.append(element("option", { value: `d:${name}` }, `${name}/ (${number(count)})`));
  }
  select.append(group);
  if (!withFiles) return;
  const single = element("optgroup", { label: "Files" });
  for (const [name, count] of tally(files, (file) => file).sort((a, b) => (a[0] < b[0] ? -1 : 1))) {
    single.append(element("option", { value: `f:${name}` }, `${name} (${number(count)})`));
  }
  select.append(single);
}

// Does a file lie at the chosen place? A directory holds what is below it.
function liesAt(file, place) {
  if (!place) return true;
  const name = place.slice(2);
  if (place[0] === "f") return file === name;
  return name === "." ? !file.includes("/") : file.startsWith(`${name}/`);
}

// The theme: the reader's choice if there is one, else the system's.
const theme = {
  system: window.matchMedia("(prefers-color-scheme: dark)"),
  chosen: null,
  remember(value) {
    // A page opened from a file may have no storage.
    try { localStorage.setItem("drip-theme", value); } catch { this.chosen = value; }
  },
  recall() {
    try { return localStorage.getItem("drip-theme") || this.chosen; } catch { return this.chosen; }
  },
  apply() {
    const dark = (this.recall() || (this.system.matches ? "dark" : "light")) === "dark";
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    byId("theme").textContent = dark ? "☀" : "☾";
  },
  toggle() {
    this.remember(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    this.apply();
  },
};
theme.system.addEventListener("change", () => theme.apply());
