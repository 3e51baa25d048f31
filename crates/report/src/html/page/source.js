// Source lines with colours, marks and notes.
const KEYWORDS = new Set(("alignas alignof asm auto break case catch class const const_cast constexpr continue co_await co_return co_yield default "
  + "delete do dynamic_cast else enum explicit export extern false for friend goto if inline mutable namespace new noexcept NULL nullptr operator "
  + "override private protected public register reinterpret_cast restrict return sizeof static static_assert static_cast struct switch template "
  + "this throw true try typedef typeid typename union using virtual volatile while").split(" "));
const TYPES = /^(void|bool|_Bool|char|short|int|long|float|double|signed|unsigned|FILE|string|vector|[a-z0-9_]+_t)$/;
const TOKEN = /\/\/.*|\/\*|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|\b0[xX][0-9a-fA-F]+\w*|\b\d[\w.]*|[A-Za-z_]\w*/g;

// [from, to, class] of one line; `inside` tells whether it starts in a block comment.
function tokens(line, inside) {
  const found = [];
  let at = 0;
  const closeComment = (from) => {
    const end = line.indexOf("*/", at);
    at = end < 0 ? line.length : end + 2;
    found.push([from, at, "c"]);
    return end < 0;
  };
  if (inside && closeComment(0)) return { found, inside: true };
  const directive = /^\s*#\s*\w+/.exec(line);
  if (directive && at === 0) {
    found.push([0, directive[0].length, "p"]);
    at = directive[0].length;
    const header = /^\s*<[^>]*>/.exec(line.slice(at));
    if (header) {
      found.push([at, at + header[0].length, "s"]);
      at += header[0].length;
    }
  }
  TOKEN.lastIndex = at;
  for (let match; (match = TOKEN.exec(line)); ) {
    const text = match[0];
    const from = match.index;
    at = from + text.length;
    if (text === "/*") {
      if (closeComment(from)) return { found, inside: true };
      TOKEN.lastIndex = at;
      continue;
    }
    let kind = "";
    if (text.startsWith("//")) kind = "c";
    else if (text[0] === '"' || text[0] === "'") kind = "s";
    else if (/\d/.test(text[0])) kind = "n";
    else if (KEYWORDS.has(text)) kind = "k";
    else if (TYPES.test(text)) kind = "t";
    else if (/^\s*\(/.test(line.slice(at))) kind = "f";
    if (kind) found.push([from, at, kind]);
  }
  return { found, inside: false };
}

// A line as spans: cut at the borders of tokens and marks.
function colored(line, parts, marks) {
  const borders = new Set([0, line.length]);
  for (const [from, to] of [...parts, ...marks]) borders.add(Math.min(from, line.length)).add(Math.min(to, line.length));
  const cuts = [...borders].sort((a, b) => a - b);
  const text = element("span", { class: "text" });
  for (let i = 0; i + 1 < cuts.length; i++) {
    const piece = line.slice(cuts[i], cuts[i + 1]);
    const inside = ([from, to]) => from <= cuts[i] && cuts[i + 1] <= to;
    const token = parts.find(inside);
    const mark = marks.find(inside);
    let made = token ? element("span", { class: token[2] }, piece) : piece;
    if (mark) made = element("mark", { class: mark[2] }, made);
    text.append(made);
  }
  return text;
}

// The source of a finding: its files in the order of `places`, gaps between the parts that are kept.
function sourceView(places, choose, context = CONTEXT) {
  const view = document.createDocumentFragment();
  const files = [...new Set(places.map((place) => place.file))];
  for (const file of files) {
    const here = places.filter((place) => place.file === file);
    view.append(element("div", { class: "file" }, element("b", null, data.files[file])));
    const code = element("div", { class: "code" });
    const parts = data.sources[file];
    const shown = parts && partsOf(parts, here, context);
    if (!shown || shown.length === 0) {
      for (const place of here) code.append(plainLine(place), noteOf(place, choose));
    } else {
      shown.forEach((part, i) => {
        if (i > 0) code.append(element("div", { class: "gap" }, `⋯ ${counted(part.first - shown[i - 1].last - 1, "line")}`));
        appendLines(code, part, here, choose);
      });
    }
    view.append(code);
  }
  return view;
}

// Around the places only: what lies further away belongs to other findings of the file.
const CONTEXT = 12;

function partsOf(parts, here, context) {
  const shown = [];
  const lines = here.map((place) => place.line).sort((a, b) => a - b);
  for (const [start, inside, text] of parts) {
    let comment = Boolean(inside);
    const known = text.map((line) => {
      const parsed = tokens(line, comment);
      comment = parsed.inside;
      return parsed.found;
    });
    const last = start + text.length - 1;
    let current = null;
    for (const line of lines.filter((line) => start <= line && line <= last)) {
      const from = Math.max(start, line - context);
      const to = Math.min(last, line + context);
      // A gap of one line takes as much room as the line.
      if (current && from <= current.last + 2) current.last = Math.max(current.last, to);
      else shown.push((current = { first: from, last: to, start, text, known }));
    }
  }
  return shown;
}

function appendLines(code, part, here, choose) {
  for (let line = part.first; line <= part.last; line++) {
    const index = line - part.start;
    const places = here.filter((place) => place.line === line);
    const marks = places.filter((place) => place.to > place.from).map((place) => [place.from, place.to, place.kind]);
    code.append(lineOf(line, colored(part.text[index], part.known[index], marks), places));
    for (const place of places) code.append(noteOf(place, choose));
  }
}

function lineOf(line, text, places) {
  const marks = element("span", { class: "marks" });
  for (const place of places) if (place.number) marks.append(element("span", { class: `num ${place.kind}` }, String(place.number)));
  return element("div", { class: places.length ? "ln has" : "ln", "data-line": line }, element("span", { class: "no" }, String(line)), marks, text);
}

function plainLine(place) {
  return lineOf(place.line, element("span", { class: "text c" }, "the source is not at hand"), [place]);
}

function noteOf(place, choose) {
  const label = place.number ? `${place.number}. ` : "";
  const button = element("button", { onclick: () => choose(place) }, label, ...prose(place.text));
  return element("div", { class: `note ${place.kind}`, "data-place": place.key }, button);
}
