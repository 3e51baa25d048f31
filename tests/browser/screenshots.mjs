// The pictures of the documentation: node screenshots.mjs DIRECTORY. DRIP names the binary.
//
// The terminal is drawn by the browser from drip's own coloured output; nothing is retouched.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { openBrowser, openReport } from "./browser.mjs";

const ROOT = resolve(import.meta.dirname, "../..");
const EXAMPLE = join(ROOT, "examples/inventory");
const target = resolve(process.argv[2] || "docs");
const drip = process.env.DRIP || join(ROOT, "target/release/drip");
const work = mkdtempSync(join(tmpdir(), "drip-pictures-"));
const environment = { ...process.env, DRIP_CACHE_DIR: join(work, "cache") };
const sources = readdirSync(join(EXAMPLE, "src")).filter((name) => name.endsWith(".c")).map((name) => `src/${name}`).sort();

// Escape sequences of the styles that drip uses.
const COLORS = { 31: "#ff7b72", 32: "#7ee787", 33: "#e3b341", 34: "#79c0ff", 36: "#76e3ea", 91: "#ff7b72", 92: "#7ee787", 93: "#e3b341", 94: "#79c0ff", 95: "#d2a8ff", 96: "#76e3ea", 97: "#ffffff" };

function terminalPage(command, output) {
  const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  let style = { bold: false, color: "" };
  const parts = output.split(/\x1b\[([0-9;]*)m/).map((part, i) => {
    if (i % 2 === 0) {
      const css = `${style.bold ? "font-weight:700;" : ""}${style.color ? `color:${style.color};` : ""}`;
      return css ? `<span style="${css}">${escape(part)}</span>` : escape(part);
    }
    const codes = part.split(";").map(Number);
    if (codes[0] === 38 && codes[1] === 5) {
      style = { ...style, color: { 9: COLORS[91], 10: COLORS[92], 11: COLORS[93], 12: COLORS[94], 14: COLORS[96] }[codes[2]] || style.color };
      return "";
    }
    for (const code of codes) {
      if (code === 0) style = { bold: false, color: "" };
      else if (code === 1) style = { ...style, bold: true };
      else if (COLORS[code]) style = { ...style, color: COLORS[code] };
    }
    return "";
  });
  return `<!doctype html><meta charset="utf-8"><style>body{margin:0;background:#0d1117;display:inline-block}
    pre{margin:0;padding:20px 24px;font:14px/1.45 "DejaVu Sans Mono",monospace;color:#e6edf3}</style>
    <pre><span style="color:#7ee787">$</span> ${escape(command)}\n${parts.join("")}</pre>`;
}

async function terminal(context, words, name) {
  const { stdout } = spawnSync(drip, [...words, "--color=always"], { cwd: EXAMPLE, env: environment, encoding: "utf8" });
  const file = join(work, `${name}.html`);
  writeFileSync(file, terminalPage(["drip", ...words].join(" "), stdout));
  const page = await context.newPage();
  await page.goto(`file://${file}`);
  await page.locator("pre").screenshot({ path: join(target, `${name}.png`) });
  await page.close();
}

async function report(context) {
  const file = join(work, "report.html");
  execFileSync(drip, ["check", "-q", "--exit-zero", `--output-format=html=${file}`, ...sources], { cwd: EXAMPLE, env: environment });
  const page = await openReport(context, file);
  const picture = async (name) => {
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(target, `${name}.png`) });
  };
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await picture("html-findings");
  await page.keyboard.press("t");
  await page.locator(".item").nth(4).click();
  await picture("html-findings-dark");
  await page.keyboard.press("t");
  await page.keyboard.press("2");
  await page.keyboard.press("/");
  await page.keyboard.type("mem_dup");
  await picture("html-ledger");
  await page.keyboard.press("Escape");
  await page.keyboard.press("3");
  await picture("html-overview");
  await page.close();
}

const browser = await openBrowser({ viewport: { width: 1280, height: 720 } });
try {
  await terminal(browser.context, ["check", "src/config.c", "src/mem.c"], "terminal");
  await report(browser.context);
} finally {
  await browser.close();
  rmSync(work, { recursive: true, force: true });
}
